package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// Normal decodes JSON into a value in which numbers keep their digits.
func Normal(t testing.TB, data []byte) any {
	t.Helper()
	if len(data) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// DocumentedTexts returns the members of a documented response as texts by lower-case path. Values that Go cannot
// distinguish from a missing member are left out: false and 0.
func DocumentedTexts(doc any) map[string]string {
	texts := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+strings.ToLower(name), member)
			}
		case []any:
			for i, element := range v {
				walk(path+"."+strconv.Itoa(i), element)
			}
		case bool:
			if v {
				texts[path] = "true"
			}
		case json.Number:
			if v != "0" {
				texts[path] = v.String()
			}
		case string:
			texts[path] = v
		}
	}
	walk("", doc)
	for path, text := range texts { // the published alternative name of the same member
		if name, ok := strings.CutSuffix(path, ".refundtransactionid"); ok {
			delete(texts, path)
			texts[name+".merchantrefundid"] = text
		}
	}
	return texts
}

// ReadTexts returns the members of a result in the same form as DocumentedTexts.
func ReadTexts(result any) map[string]string {
	texts := map[string]string{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch x := v.Interface().(type) {
		case decimal.Decimal:
			if !x.IsZero() {
				texts[path] = x.StringFixed(-x.Exponent())
			}
			return
		case time.Time:
			if !x.IsZero() {
				texts[path] = strconv.FormatInt(x.UnixMilli(), 10)
			}
			return
		case cardgateway.WallTime:
			if !x.IsZero() {
				texts[path] = x.String()
			}
			return
		case *bool:
			if x != nil {
				texts[path] = strconv.FormatBool(*x)
			}
			return
		case cardgateway.Code:
			texts[path] = strconv.Itoa(int(x))
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+strings.ToLower(v.Type().Field(i).Name), v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(path+"."+strconv.Itoa(i), v.Index(i))
			}
		default:
			if !v.IsZero() {
				texts[path] = fmt.Sprint(v.Interface())
			}
		}
	}
	walk("", reflect.ValueOf(result))
	return texts
}
