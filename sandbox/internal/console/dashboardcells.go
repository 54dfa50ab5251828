package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

// clock formats a time for the dashboard.
func (c *Console) clock(t time.Time) string {
	return t.In(c.settings.Zone).Format("2006-01-02 15:04:05 -07:00")
}

// unbroken replaces spaces by non-breaking ones.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

func mono(text string) pages.Cell { return pages.Cell{Text: text, Mono: true} }

// terms returns a list of names and values, which are cells or their texts, without empty ones.
func terms(pairs ...any) []pages.Term {
	var list []pages.Term
	for i := 0; i < len(pairs); i += 2 {
		cell, ok := pairs[i+1].(pages.Cell)
		if !ok {
			cell.Text = fmt.Sprint(pairs[i+1])
		}
		if cell.Text != "" {
			list = append(list, pages.Term{Name: pairs[i].(string), Cell: cell})
		}
	}
	return list
}

func stateCell(code int, message string) pages.Cell {
	return pages.Cell{Text: fmt.Sprintf("%d %s", code, message), Tone: toneOf(code)}
}

// paymentState is the state of a payment with its refunds: the gateway's code for it stays 100.
func paymentState(p Payment) pages.Cell {
	switch {
	case p.Refunding:
		return pages.Cell{Text: "refund requested", Tone: "wait"}
	case p.Refunded == "":
		return stateCell(p.Code, p.Message)
	case p.Refundable:
		return pages.Cell{Text: "refunded in part", Tone: "past"}
	}
	return pages.Cell{Text: "refunded", Tone: "past"}
}

// toneOf returns the tone of a result code.
func toneOf(code int) string {
	switch code {
	case codes.Success, codes.Refunded, codes.SearchSuccess, codes.Uploaded:
		return "good"
	case codes.Processing, codes.RefundRequested, codes.Redirect:
		return "wait"
	}
	return "bad"
}

// responseCell is the response as it was before a fault, if any: then it has no tone.
func responseCell(r Request) pages.Cell {
	switch {
	case r.Code != 0 && r.Status == http.StatusOK && r.Fault != "":
		return pages.Cell{Text: fmt.Sprintf("%d %s", r.Code, r.Message)}
	case r.Code != 0 && r.Status == http.StatusOK:
		return stateCell(r.Code, r.Message)
	case r.Code != 0:
		return pages.Cell{Text: fmt.Sprintf("HTTP %d, %d %s", r.Status, r.Code, r.Message), Tone: "bad"}
	case r.Status < 400:
		return pages.Cell{Text: fmt.Sprintf("HTTP %d", r.Status)}
	}
	return pages.Cell{Text: fmt.Sprintf("HTTP %d", r.Status), Tone: "bad"}
}

func faultCell(text string) pages.Cell {
	if text == "" {
		return pages.Cell{}
	}
	return pages.Cell{Text: text, Tone: "bad"}
}

func deliveryState(state string) pages.Cell {
	return pages.Cell{Text: state, Tone: cmp.Or(map[string]string{"accepted": "good", "given up": "bad"}[state], "wait")}
}

func times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

// indented returns indented JSON, or the text unchanged if it is not JSON.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}
