package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
)

const page = "<!doctype html>\n<title>Bad Gateway</title>\n<h1>Something went wrong</h1>\n"

// disturb returns the body of the response; rec is nil if the operation was not carried out.
func (f *Fault) disturb(rec *httptest.ResponseRecorder, path, id string) []byte {
	var body []byte
	if rec != nil {
		body = rec.Body.Bytes()
	}
	switch f.Body {
	case BodyTruncated:
		return body[:len(body)/2]
	case BodyEmpty:
		return nil
	case BodyHTML:
		return []byte(page)
	case BodyForeign:
		if path == "/api/refund" {
			return fmt.Appendf(nil, `{"code":111,"message":"Refund successful","uniqueId":"1234567890","refundUniqueId":"1234567891",`+
				`"refundTransactionId":"not-%s","refundAmount":"1.00","refundCurrency":"USD"}`, id)
		}
		return fmt.Appendf(nil, `{"code":100,"message":"successful transaction","uniqueId":"1234567890","transactionId":"not-%s",`+
			`"transactionAmount":"1.00","transactionCurrency":"USD"}`, id)
	case BodyNoCode:
		return withoutCode(body)
	case BodyError:
		return []byte(`{"code":999,"message":"system error"}`)
	}
	if body == nil {
		return []byte(page)
	}
	return body
}

func withoutCode(body []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return body
	}
	delete(m, "code")
	left, _ := json.Marshal(m) // of what was JSON
	return left
}

// leakRow adds the order, or the refund, of another transaction before the rows of a search, like a filter that does not
// work.
func leakRow(rec *httptest.ResponseRecorder, refunds bool) {
	const empty, begun = `"data":[]`, `"data":[`
	row := `{"code":100,"uniqueId":"999000111","transactionId":"somebody-else","transactionAmount":"5.00","transactionCurrency":"USD"}`
	if refunds {
		row = `{"code":111,"uniqueId":"999000111","merchantRefundId":"somebody-else","refundUniqueId":"999000112","refundAmount":"5.00","refundCurrency":"USD"}`
	}
	body := rec.Body.Bytes()
	if bytes.Contains(body, []byte(empty)) {
		body = bytes.Replace(body, []byte(empty), []byte(begun+row+"]"), 1)
	} else {
		body = bytes.Replace(body, []byte(begun), []byte(begun+row+","), 1)
	}
	rec.Body = bytes.NewBuffer(body)
}

// hangUp closes the connection without a response, or within one. Over HTTP/2 it ends the stream.
func hangUp(w http.ResponseWriter, cut Cut, body []byte) {
	h, ok := w.(http.Hijacker)
	if !ok {
		if cut == CutBodyReset || cut == CutBodyClose {
			_, _ = w.Write(body[:len(body)/2])
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	}
	conn, _, err := h.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	switch cut {
	case CutHeader:
		_, _ = conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Type: appl"))
	case CutBodyReset, CutBodyClose:
		_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)/2])
	}
	if cut == CutReset || cut == CutBodyReset {
		reset(conn)
	}
	_ = conn.Close() // it may already be closed
}

// reset makes the connection end with a TCP reset, below TLS if there is TLS.
func reset(conn net.Conn) {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	if t, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = t.SetLinger(0)
	}
	_ = conn.Close()
}
