package redact

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"

	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Error makes an error of a transport or of a hook safe to keep. *url.Error is unwrapped, because it prints the URL. An
// error in which any printer could find a secret is replaced by one that names only its type.
func (s Secrets) Error(err error) error {
	for {
		u, ok := errors.AsType[*url.Error](err)
		if !ok {
			break
		}
		err = u.Err
	}
	if err == nil || !s.shownBy(err) {
		return err
	}
	return withhold(err)
}

// ReadError does the same for an error in reading a response, and also replaces one with a card number or a CVV: net/http quotes
// what it could not read, which can be from another response.
func (s Secrets) ReadError(err error) error {
	if err = s.Error(err); err != nil && mask.CardData(err.Error()) != err.Error() {
		return withhold(err)
	}
	return err
}

// shownBy reports whether an error, or one that it wraps, contains a secret.
func (s Secrets) shownBy(err error) bool {
	if err == nil { // some errors that wrap several contain nil
		return false
	}
	for _, format := range []string{"%v", "%+v", "%#v"} {
		if s.Find(fmt.Sprintf(format, err), MinText) {
			return true
		}
	}
	search := deepSearch{secrets: s, budget: maxDeepValues}
	if search.value(reflect.ValueOf(err)) {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return s.shownBy(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), s.shownBy)
	}
	return false
}

// deepSearch searches a value like a deep printer: through pointers, interfaces and unexported fields.
type deepSearch struct {
	secrets Secrets
	budget  int // values that may still be searched
	seen    map[pointer]bool
}

// pointer is a pointer that was followed. A struct has the address of its first field, but another type.
type pointer struct {
	as      reflect.Type
	address uintptr
}

// maxDeepValues is far more than any error of the standard library has. A value with more is assumed to contain a secret.
const maxDeepValues = 2000

// Types that hold the URL or the headers of a request.
var requestTypes = []reflect.Type{
	reflect.TypeFor[http.Request](), reflect.TypeFor[http.Response](), reflect.TypeFor[http.Header](), reflect.TypeFor[url.URL](),
}

// A certificate is public, and would use up the budget.
var certificateType = reflect.TypeFor[x509.Certificate]()

// value reports whether a value contains a secret, or a request, whose URL and headers are secret.
func (d *deepSearch) value(v reflect.Value) bool {
	if d.budget--; d.budget < 0 {
		return true
	}
	if !v.IsValid() {
		return false
	}
	if slices.Contains(requestTypes, v.Type()) && !v.IsZero() {
		return true
	}
	if v.Type() == certificateType {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		return d.secrets.Find(v.String(), MinText)
	case reflect.Pointer:
		p := pointer{v.Type(), v.Pointer()}
		if v.IsNil() || d.seen[p] {
			return false
		}
		if d.seen == nil {
			d.seen = make(map[pointer]bool)
		}
		d.seen[p] = true
		return d.value(v.Elem())
	case reflect.Interface:
		return d.value(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if d.value(v.Field(i)) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		return d.elements(v)
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			if d.value(entry.Key()) || d.value(entry.Value()) {
				return true
			}
		}
	}
	return false
}

func (d *deepSearch) elements(v reflect.Value) bool {
	switch v.Type().Elem().Kind() {
	case reflect.Uint8:
		text := make([]byte, v.Len())
		for i := range text { // not Bytes, which panics if v is unexported or an array
			text[i] = byte(v.Index(i).Uint())
		}
		return d.secrets.Find(string(text), MinText)
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint16,
		reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32, reflect.Float64:
		return false
	}
	for i := range v.Len() {
		if d.value(v.Index(i)) {
			return true
		}
	}
	return false
}

// withhold returns an error that replaces err and does not wrap it.
func withhold(err error) error {
	return &withheldError{kind: fmt.Sprintf("%T", err), is: standardCause(err)}
}

// standardCause returns the error of the standard library that callers test for with errors.Is, if err is one.
func standardCause(err error) error {
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, cause) {
			return cause
		}
	}
	return nil
}

// withheldError replaces an error that contained card data, a token or credentials.
type withheldError struct {
	kind string
	is   error
}

func (e *withheldError) Error() string {
	return "an error of type " + e.kind + ", whose text is withheld because it held a secret"
}

func (e *withheldError) Unwrap() error { return e.is }
