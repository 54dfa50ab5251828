// Package codes has the result codes of the gateway. The interface documents 100, 101, 102, 111, 121 and 301; the others
// are published.
package codes

import "cmp"

const (
	Success         = 100
	Failed          = 101
	Processing      = 102
	Closed          = 103
	RefundRequested = 110
	Refunded        = 111
	RefundFailed    = 112
	SearchSuccess   = 121
	SearchFailed    = 122
	Uploaded        = 141
	UploadFailed    = 142
	Inactive        = 201
	Redirect        = 301
	RequestFailed   = 400
	Unauthorized    = 401
	NotFound        = 404
	ParameterError  = 500
	Duplicate       = 501
	SystemError     = 999
)

var messages = map[int]string{
	Success:         "successful transaction",
	Failed:          "transaction failed",
	Processing:      "order processing",
	Closed:          "order closed",
	RefundRequested: "Refund request successful",
	Refunded:        "Refund successful",
	RefundFailed:    "Refund failed",
	SearchSuccess:   "Search success",
	SearchFailed:    "query failed",
	Uploaded:        "upload successful",
	UploadFailed:    "upload failed",
	Inactive:        "invalid merchant status",
	Redirect:        "order processing",
	RequestFailed:   "request failed",
	Unauthorized:    "unauthorized",
	NotFound:        "not found",
	ParameterError:  "request parameter error",
	Duplicate:       "duplicate transactionId",
}

// Message returns the text for a code.
func Message(code int) string { return cmp.Or(messages[code], "system error") }
