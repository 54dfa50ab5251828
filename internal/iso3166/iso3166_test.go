package iso3166_test

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/iso3166"
)

func TestIsCountry(t *testing.T) {
	for code, want := range map[string]bool{
		"US": true, "GB": true, "AD": true, "ZW": true, "XK": true, "UK": false, "us": false, "": false, "U": false, "S ": false, "USA": false, "ZZ": false,
	} {
		t.Run(code, func(t *testing.T) {
			if got := iso3166.IsCountry(code); got != want {
				t.Errorf("%q: got %t, want %t", code, got, want)
			}
		})
	}
}
