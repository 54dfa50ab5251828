// Package iso4217 has the number of decimals of the currencies in ISO 4217.
package iso4217

import "strings"

// The active codes of list one, except those that are not used for payments (metals, funds, test codes), by the number of
// decimals of their minor unit.
const (
	none  = "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"
	three = "BHD IQD JOD KWD LYD OMR TND"
	two   = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC " +
		"CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD " +
		"KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO " +
		"NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL " +
		"THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG"
)

var decimals = func() map[string]int {
	m := make(map[string]int)
	for n, codes := range map[int]string{0: none, 2: two, 3: three} {
		for code := range strings.FieldsSeq(codes) {
			m[code] = n
		}
	}
	return m
}()

// Decimals returns the number of decimals of a currency, and whether it is in ISO 4217.
func Decimals(currency string) (n int, known bool) {
	n, known = decimals[currency]
	return n, known
}
