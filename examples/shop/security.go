package main

import (
	"net"
	"net/http"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// maxForm is the size limit of a form.
const maxForm = 16 << 10

// protect rejects forms sent from other sites, and limits their size. Two independent mechanisms prevent cross-site request
// forgery: the cookie is SameSite=Lax, and CrossOriginProtection checks the browser's Sec-Fetch-Site and Origin, which a
// page cannot set. A token in every form would add nothing to them.
func (s *Shop) protect(next http.Handler) http.Handler {
	own := http.NewCrossOriginProtection()
	own.SetDenyHandler(s.page(func(http.ResponseWriter, *http.Request) error { return errOtherSite }))
	return own.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	}))
}

// withHeaders sets security headers. The only script is follow.js, which fetches pages of the shop.
//
// form-action is 'self' although checkouts redirect to the gateway, whose pages may be on any host: Chromium also applies
// it to the redirects after a form. A form therefore leads to a page of the shop, which redirects; see showRedirect.
// Referrer-Policy must not be no-referrer: forms would then be sent with "Origin: null".
func (s *Shop) withHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; "+
			"base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
		h.Set("Cache-Control", "no-store") // static files override it
		if s.isHTTPS() {
			h.Set("Strict-Transport-Security", "max-age=63072000")
		}
		next.ServeHTTP(w, r)
	})
}

// maxUserAgent is the published limit. Some browsers send more.
const maxUserAgent = 128

// visitor returns what the gateway requires to know of the customer's connection and browser.
func (s *Shop) visitor(r *http.Request) payments.Visitor {
	ip, _, _ := net.SplitHostPort(r.RemoteAddr) // written by package net/http
	// A header is trusted only if the operator says that their proxy sets it: anybody can send one.
	if s.clientIPHeader != "" {
		if told := net.ParseIP(r.Header.Get(s.clientIPHeader)); told != nil {
			ip = told.String()
		}
	}
	agent := r.UserAgent()
	agent = strings.ToValidUTF8(agent[:min(len(agent), maxUserAgent)], "") // the client refuses to send invalid UTF-8
	return payments.Visitor{IP: ip, Browser: cardgateway.Browser{UserAgent: agent, Referer: s.url + "/checkout"}}
}
