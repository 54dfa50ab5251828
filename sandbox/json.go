package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// object is a JSON object under construction. Its methods append one member each, in the order of the calls.
type object []byte

func newObject() object { return append(make(object, 0, 512), '{') }

func (o object) key(name string) object {
	if o[len(o)-1] != '{' {
		o = append(o, ',')
	}
	o = append(o, '"')
	o = append(o, name...) // names are constants of this package that need no escaping
	return append(o, '"', ':')
}

func (o object) text(name, value string) object { return appendText(o.key(name), value) }

// optional appends nothing for an empty value.
func (o object) optional(name, value string) object {
	if value == "" {
		return o
	}
	return o.text(name, value)
}

// optionalRaw appends nothing for an empty value.
func (o object) optionalRaw(name, value string) object {
	if value == "" {
		return o
	}
	return o.raw(name, value)
}

func (o object) number(name string, value int64) object {
	return strconv.AppendInt(o.key(name), value, 10)
}

// raw appends a value that is JSON already.
func (o object) raw(name, value string) object { return append(o.key(name), value...) }

func (o object) boolean(name string, value bool) object {
	return strconv.AppendBool(o.key(name), value)
}

func (o object) end() []byte { return append(o, '}') }

// appendText appends s as a JSON string. Plain ASCII, nearly everything, is copied.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			quoted, _ := json.Marshal(s) // a string always can be marshalled
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// members splits a JSON object into its members. It refuses what two readers could understand differently: a
// member that occurs twice, anything after the object, and text that is not UTF-8.
func members(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	m := make(map[string]json.RawMessage)
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, errors.New("malformed JSON")
		}
		if _, twice := m[name]; twice {
			return nil, fmt.Errorf("%.40q occurs twice", name)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, errors.New("malformed JSON")
		}
		m[name] = value
	}
	if _, err := d.Token(); err != nil {
		return nil, errors.New("malformed JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	return m, nil
}
