package clienttest

import (
	"fmt"
	"reflect"
	"strings"
	"unsafe"
)

// DeepPrint prints a value like the deep printers that programmers use when fmt shows too little: it calls no methods,
// follows pointers, interfaces, maps and unexported fields, and prints every string, byte slice and number, and the type of
// every struct. With open it makes unexported fields readable and also passes each to fmt, including methods.
func DeepPrint(v any, open bool) string {
	p := deepPrinter{open: open, seen: map[visited]bool{}, left: 200_000}
	p.walk(reflect.ValueOf(v), 0)
	return p.out.String()
}

type deepPrinter struct {
	out  strings.Builder
	open bool
	seen map[visited]bool
	left int
}

type visited struct {
	at  unsafe.Pointer
	typ reflect.Type
}

func (p *deepPrinter) walk(v reflect.Value, depth int) {
	if p.left--; p.left < 0 || depth > 50 || !v.IsValid() {
		return
	}
	if p.open && v.CanAddr() {
		v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
		fmt.Fprintf(&p.out, "%+v %#v\n", v.Interface(), v.Interface())
	}
	switch v.Kind() {
	case reflect.Pointer:
		if at := (visited{v.UnsafePointer(), v.Type()}); !v.IsNil() && !p.seen[at] {
			p.seen[at] = true
			p.walk(v.Elem(), depth+1)
		}
	case reflect.Interface:
		p.walk(v.Elem(), depth+1)
	case reflect.Struct:
		fmt.Fprintf(&p.out, "%v\n", v.Type())
		for _, field := range v.Fields() {
			p.walk(field, depth+1)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			p.walk(it.Key(), depth+1)
			p.walk(it.Value(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(&p.out, "%q\n", v.Bytes())
			return
		}
		for i := range v.Len() {
			p.walk(v.Index(i), depth+1)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		fmt.Fprintf(&p.out, "%v\n", v.Type())
	default:
		fmt.Fprintf(&p.out, "%v %q\n", v, v.String())
	}
}
