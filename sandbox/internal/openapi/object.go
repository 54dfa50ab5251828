package openapi

import (
	"encoding/json"
	"strings"
)

// object is a JSON object with ordered members: names and values alternate.
type object []any

// set appends a member.
func (o *object) set(name string, value any) { *o = append(*o, name, value) }

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		if i > 0 {
			text = append(text, ',')
		}
		for j, value := range o[i : i+2] {
			part, err := json.Marshal(value)
			if err != nil {
				return nil, err
			}
			if text = append(text, part...); j == 0 {
				text = append(text, ':')
			}
		}
	}
	return append(text, '}'), nil
}

// list is a JSON array.
type list []any

func ref(name string) object { return object{"$ref", "#/components/schemas/" + name} }

func powerOfTen(n int) json.Number { return json.Number("1" + strings.Repeat("0", n)) }
