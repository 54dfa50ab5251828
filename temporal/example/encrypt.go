package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
)

// encryption encrypts everything that Temporal stores of inputs, results, signals and heartbeats, with AES-GCM. Package temporal
// stores no card data and no token in them; this is for merchants who want to hide the ids and states too. The shop and all
// workers need the same key.
type encryption struct{ seal cipher.AEAD }

const encoding = "binary/encrypted"

// newEncryption returns the data converter for client.Options. The key has 16, 24 or 32 bytes.
func newEncryption(key []byte) (converter.DataConverter, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), encryption{seal}), nil
}

// Encode implements converter.PayloadCodec.
func (e encryption) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	sealed := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		sealed[i] = &common.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: e.seal.Seal(nil, nil, plain, nil),
		}
	}
	return sealed, nil
}

// Decode implements converter.PayloadCodec. A payload that is not encrypted is an error: somebody else has written it.
func (e encryption) Decode(payloads []*common.Payload) ([]*common.Payload, error) {
	opened := make([]*common.Payload, len(payloads))
	for i, p := range payloads {
		if string(p.Metadata[converter.MetadataEncoding]) != encoding {
			return nil, errors.New("the payload is not encrypted")
		}
		plain, err := e.seal.Open(nil, nil, p.Data, nil)
		if err != nil {
			return nil, fmt.Errorf("the payload cannot be decrypted: %w", err)
		}
		opened[i] = &common.Payload{}
		if err := proto.Unmarshal(plain, opened[i]); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

// newKey returns a random key. A merchant's program loads its key from where it keeps secrets.
func newKey() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return key
}
