// Package jsonobject writes and reads JSON objects, for the gateway and for its control API.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"
)

// Object is a JSON object under construction. Its methods append one member each, in the order of the calls.
type Object []byte

// New returns an object without members. End closes it.
func New() Object { return append(make(Object, 0, 512), '{') }

func (o Object) Key(name string) Object {
	if o[len(o)-1] != '{' {
		o = append(o, ',')
	}
	o = append(o, '"')
	o = append(o, name...) // names are constants that need no escaping
	return append(o, '"', ':')
}

func (o Object) Text(name, value string) Object { return AppendText(o.Key(name), value) }

func (o Object) Number(name string, value int64) Object {
	return strconv.AppendInt(o.Key(name), value, 10)
}

// Raw appends a value that is JSON already.
func (o Object) Raw(name, value string) Object { return append(o.Key(name), value...) }

func (o Object) Bool(name string, value bool) Object {
	return strconv.AppendBool(o.Key(name), value)
}

// WallTime appends the interface's YYYY-MM-DD HH:MM:SS.
func (o Object) WallTime(name string, t time.Time, zone *time.Location) Object {
	o = append(o.Key(name), '"')
	return append(t.In(zone).AppendFormat(o, time.DateTime), '"')
}

func (o Object) End() []byte { return append(o, '}') }

// AppendText appends s as a JSON string. Plain ASCII, nearly everything, is copied.
func AppendText(b []byte, s string) []byte {
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

// Members splits a JSON object into its members. It refuses what two readers could understand differently: a
// member that occurs twice, anything after the object, and text that is not UTF-8.
func Members(data []byte) (map[string]json.RawMessage, error) {
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
