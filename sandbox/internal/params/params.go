// Package params reads what a request says by name: a query string, the fields of a form, the members of a JSON object.
package params

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// Reader reads values by name, and records the names that it knows and what is wrong with the values.
type Reader struct {
	values   url.Values
	known    []string
	problems []string
}

// Of returns a Reader of a query or a form.
func Of(values url.Values) *Reader { return &Reader{values: values} }

// JSON returns a Reader of an object of strings, numbers and booleans. An empty body is an empty object.
func JSON(body []byte) (*Reader, error) {
	r := Of(url.Values{})
	if len(body) == 0 {
		return r, nil
	}
	members, err := jsonobject.Members(body)
	if err != nil {
		return nil, err
	}
	for name, value := range members {
		var text string
		switch {
		case json.Unmarshal(value, &text) == nil:
		case value[0] == '{' || value[0] == '[':
			return nil, fmt.Errorf("%.40q must be a string, a number or a boolean", name)
		default:
			text = string(value)
		}
		r.values.Set(name, text)
	}
	return r, nil
}

// Problem records what is wrong with a value.
func (r *Reader) Problem(name, text string) { r.problems = append(r.problems, name+": "+text) }

// Problems returns everything that is wrong with the values that were read.
func (r *Reader) Problems() []string { return r.problems }

// Err returns the first problem, or an error for a value that nothing has read.
func (r *Reader) Err() error {
	for _, name := range slices.Sorted(maps.Keys(r.values)) {
		if !slices.Contains(r.known, name) {
			return unknown(name, r.known)
		}
	}
	if r.problems != nil {
		return errors.New(r.problems[0])
	}
	return nil
}

// unknown returns the error for a name that is not one of the known ones.
func unknown(name string, known []string) error {
	known = slices.Sorted(slices.Values(known))
	list := strings.Trim(fmt.Sprintf("%q", known), "[]")
	return fmt.Errorf("unknown member %.40q; known are %s", name, strings.ReplaceAll(list, `" "`, `", "`))
}

// Text reads a text of at most limit characters. Limit 0 means any length.
func (r *Reader) Text(name string, limit int) string {
	r.known = append(r.known, name)
	switch values := r.values[name]; {
	case len(values) == 0:
		return ""
	case len(values) > 1:
		r.Problem(name, "occurs twice")
		return ""
	case limit > 0 && utf8.RuneCountInString(values[0]) > limit:
		r.Problem(name, fmt.Sprintf("longer than %d characters", limit))
		return values[0]
	default:
		return values[0]
	}
}

// Bool reads true or false.
func (r *Reader) Bool(name string, usual bool) bool {
	switch text := r.Text(name, 0); text {
	case "":
		return usual
	case "true", "false":
		return text == "true"
	}
	r.Problem(name, "neither true nor false")
	return usual
}

// Number reads a number from 0 to limit.
func (r *Reader) Number(name string, usual, limit int) int {
	text := r.Text(name, 0)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		r.Problem(name, fmt.Sprintf("not a number from 0 to %d", limit))
		return usual
	}
	return n
}

// Duration reads a duration from 0 to limit.
func (r *Reader) Duration(name string, usual, limit time.Duration) time.Duration {
	text := r.Text(name, 0)
	if text == "" {
		return usual
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > limit {
		r.Problem(name, fmt.Sprintf(`not a duration such as "5s", of at most %v`, limit))
		return usual
	}
	return d
}

// Duration is a time.Duration that is a text in JSON, such as "1.5s".
type Duration time.Duration

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

var errDuration = errors.New(`not a duration such as "1.5s"`)

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return errDuration
	}
	*d = Duration(parsed)
	return nil
}

// Decode reads a JSON object into a struct, one member after the other, so that an error can name it. Unknown members are errors.
func Decode(data []byte, into any) error {
	members, err := jsonobject.Members(data)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		alone, _ := json.Marshal(map[string]json.RawMessage{name: members[name]}) // it was unmarshalled
		d := json.NewDecoder(bytes.NewReader(alone))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			return explained(err, name, into)
		}
	}
	return nil
}

// explained returns the error of a member as it is told to the user.
func explained(err error, name string, into any) error {
	if strings.HasPrefix(err.Error(), "json: unknown field ") {
		text, _ := json.Marshal(into) // of settings, which always can be marshalled
		known, _ := jsonobject.Members(text)
		return unknown(name, slices.Collect(maps.Keys(known)))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = fmt.Errorf("a JSON %s, which does not fit", wrong.Value)
		if wrong.Type == reflect.TypeFor[*Duration]() {
			err = errDuration
		}
	}
	return fmt.Errorf("%s: %w", name, err)
}
