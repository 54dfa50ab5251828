package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// The control API encodes Fault, SearchBehavior, SeedOptions and Options with JSON names made from the field names: oneIn,
// transactionId. Durations are strings such as "1.5s", and enumerated values are their names.

// settingName is the JSON name of a field.
func settingName(field string) string {
	name := strings.NewReplacer("URL", "Url", "ID", "Id", "HTTP", "Http").Replace(field)
	return strings.ToLower(name[:1]) + name[1:]
}

// encodeSettings returns the fields of a struct by their JSON names. Interface values, such as a transport, are left out,
// and a secret is shown only as "set".
func encodeSettings(v any) map[string]any {
	s := reflect.ValueOf(v)
	out := make(map[string]any)
	for _, f := range reflect.VisibleFields(s.Type()) {
		name, value := settingName(f.Name), s.FieldByIndex(f.Index)
		switch x := value.Interface().(type) {
		case time.Duration:
			out[name] = x.String()
		case *time.Location:
			out[name] = x.String()
		case SearchBehavior:
			out[name] = encodeSettings(x)
		default:
			switch {
			case f.Type.Kind() == reflect.Interface:
			case mask.IsSecretName(f.Name) && value.Kind() == reflect.String:
				out[name] = map[bool]string{false: "", true: "set"}[value.Len() > 0]
			default:
				out[name] = x
			}
		}
	}
	return out
}

// decodeSettings sets the fields of the struct that into points to. An unknown member is an error that names the most
// similar field.
func decodeSettings(data []byte, into any) error {
	m, err := jsonobject.Members(data)
	if err != nil {
		return err
	}
	s := reflect.ValueOf(into).Elem()
	fields := make(map[string]reflect.Value)
	for _, f := range reflect.VisibleFields(s.Type()) {
		fields[settingName(f.Name)] = s.FieldByIndex(f.Index)
	}
	for name, text := range m {
		field, ok := fields[name]
		if !ok {
			known := make([]string, 0, len(fields))
			for k := range fields {
				known = append(known, k)
			}
			return unknownMember(name, known)
		}
		if err := decodeSetting(text, field); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func decodeSetting(text json.RawMessage, field reflect.Value) error {
	if _, ok := field.Interface().(time.Duration); ok {
		var s string
		if json.Unmarshal(text, &s) != nil {
			return errors.New(`not a text such as "1.5s"`)
		}
		d, err := time.ParseDuration(s)
		if err != nil {
			return errors.New(`not a duration such as "1.5s"`)
		}
		field.SetInt(int64(d))
		return nil
	}
	err := json.Unmarshal(text, field.Addr().Interface())
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("a JSON %s, which does not fit", wrong.Value)
	}
	return err
}

// unknownMember returns the error for an unknown member.
func unknownMember(name string, known []string) error {
	slices.Sort(known)
	nearest, least := "", 4 // larger distances are different words
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < least {
			nearest, least = k, d
		}
	}
	if nearest != "" {
		return fmt.Errorf("unknown member %.40q; is it %q?", name, nearest)
	}
	return fmt.Errorf("unknown member %.40q; known are %s", name, strings.Join(known, ", "))
}

// editDistance returns the Levenshtein distance: the number of letters to insert, delete or replace.
func editDistance(a, b string) int {
	if len(a) > 40 || len(b) > 40 {
		return max(len(a), len(b))
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
