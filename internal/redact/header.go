package redact

import (
	"net/http"
	"slices"
	"strings"
)

// Headers whose name contains one of credentialWords are credentials, unless the name ends in one of harmlessEndings.
var (
	credentialWords = []string{
		"auth", "cookie", "key", "token", "secret", "sig", "pass", "pwd", "credential", "session", "bearer", "mac", "jwt", "digest", "hash", "access",
	}
	harmlessEndings = []string{"idempotency-key", "-type", "-version", "-method", "-algorithm", "-date", "-timestamp", "-user"}
)

// AddHeader adds the credentials among the headers of a request, or among the parameters of its query.
func (s *Secrets) AddHeader(header http.Header) {
	for name, values := range header {
		if carriesCredentials(strings.ToLower(name)) {
			for _, value := range values {
				s.addCredential(value)
			}
		}
	}
}

func carriesCredentials(name string) bool {
	return slices.ContainsFunc(credentialWords, func(word string) bool { return strings.Contains(name, word) }) &&
		!slices.ContainsFunc(harmlessEndings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// addCredential adds a header's value in the forms in which it could be printed: complete, without its scheme, only the
// password of Basic authentication, and the parts of a list. A part can be a harmless word, so only long parts are added.
func (s *Secrets) addCredential(value string) {
	_, withoutScheme, _ := strings.Cut(value, " ")
	s.Add(value, MinText)
	s.Add(withoutScheme, MinText)
	basic := http.Request{Header: http.Header{"Authorization": {value}}}
	if _, password, ok := basic.BasicAuth(); ok {
		s.Add(password, MinText)
	}
	for _, part := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune("\t \",;:=", c) }) {
		s.Add(part, MinID)
	}
}
