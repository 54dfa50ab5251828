package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"time"
)

// A session is a random text in a cookie, and the customer is its hash: the database then contains nothing that somebody
// who reads it could use as a cookie. A shop with accounts creates a new text when a customer logs in.
const (
	sessionLength = 26 // characters of rand.Text: more than 128 bits
	sessionAge    = 90 * 24 * time.Hour
)

// customer returns the customer of a request, and starts a session if there is none.
func (s *Shop) customer(w http.ResponseWriter, r *http.Request) string {
	text := s.session(r)
	if text == "" {
		text = rand.Text()
		http.SetCookie(w, &http.Cookie{
			Name: s.cookieName(), Value: text, Path: "/", MaxAge: int(sessionAge.Seconds()),
			HttpOnly: true, Secure: s.isHTTPS(),
			// Not Strict: the redirect back from the gateway's page starts on another site, and the customer has to be
			// recognized.
			SameSite: http.SameSiteLaxMode,
		})
		r.AddCookie(&http.Cookie{Name: s.cookieName(), Value: text}) // for the rest of this request
	}
	sum := sha256.Sum256([]byte("customer " + text))
	return hex.EncodeToString(sum[:16])
}

// session returns the text in the cookie whose format is valid, if there is one. Another program on this host can have set others with
// the same name.
func (s *Shop) session(r *http.Request) string {
	for _, c := range r.CookiesNamed(s.cookieName()) {
		if isRandom(c.Value, sessionLength) {
			return c.Value
		}
	}
	return ""
}

// cookieName has, with https, the prefix with which browsers accept the cookie only from this host.
func (s *Shop) cookieName() string {
	if s.isHTTPS() {
		return "__Host-shop"
	}
	return "shop"
}
