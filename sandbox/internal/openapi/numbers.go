package openapi

import (
	"encoding/json"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// jsonNumber returns a number that is written as given.
func jsonNumber(s string) json.Number { return json.Number(s) }

func powerOfTen(n int) json.Number { return jsonNumber("1" + strings.Repeat("0", n)) }
