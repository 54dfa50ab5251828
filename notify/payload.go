package notify

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// payload is what a signature covers: the members with a non-empty text, sorted by name.
type payload struct {
	sign    string
	members []signedMember
}

type signedMember struct {
	name   string
	text   string
	hidden bool // is or may hold a token or card data
}

// signMember holds the signature.
const signMember = "sign"

// digest returns a hash of the payload without the members that are or may hold a token or card data.
func (p payload) digest() string {
	var texts []string
	for _, m := range p.members {
		if !m.hidden {
			texts = append(texts, m.name, m.text)
		}
	}
	return digest(texts...)
}

// digest hashes each text after its length, so that moving characters from one text to the next changes the result.
func digest(texts ...string) string {
	hash := sha256.New()
	for _, text := range texts {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		hash.Write([]byte(text))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
