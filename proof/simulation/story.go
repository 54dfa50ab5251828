package simulation

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Code returns a history as a test that can be pasted into this package.
func (h *History) Code() string {
	return fmt.Sprintf("func TestSeed%d(t *testing.T) {\n\th := &History%s\n\tif r := Run(t, h, true); len(r.Broken) > 0 {\n"+
		"\t\tt.Errorf(\"%%v\\n%%s\", r.Broken, strings.Join(r.Story, \"\\n\"))\n\t}\n}\n", h.Seed, literal(reflect.ValueOf(*h), "\t"))
}

// literal returns the members of a struct that are not zero, in braces.
func literal(v reflect.Value, indent string) string {
	var parts []string
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			parts = append(parts, v.Type().Field(i).Name+": "+goText(f, indent+"\t"))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func goText(v reflect.Value, indent string) string {
	switch v.Kind() {
	case reflect.Struct:
		return strings.TrimPrefix(v.Type().String(), "simulation.") + literal(v, indent)
	case reflect.Pointer:
		return "&" + v.Elem().Type().Name() + literal(v.Elem(), indent)
	case reflect.Slice:
		var b strings.Builder
		fmt.Fprintf(&b, "[]%s{\n", v.Type().Elem().Name())
		for i := range v.Len() {
			b.WriteString(indent + "\t" + literal(v.Index(i), indent) + ",\n")
		}
		b.WriteString(indent + "}")
		return b.String()
	case reflect.String:
		return fmt.Sprintf("%q", v.String())
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return durationText(d)
	}
	if v.CanInt() { // without the name of an enumeration's constant
		return fmt.Sprint(v.Int())
	}
	return fmt.Sprint(v.Interface())
}

func durationText(d time.Duration) string {
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"}, {time.Millisecond, "time.Millisecond"}} {
		if d%unit.d == 0 {
			return fmt.Sprintf("%d * %s", d/unit.d, unit.name)
		}
	}
	return fmt.Sprintf("%d", d)
}
