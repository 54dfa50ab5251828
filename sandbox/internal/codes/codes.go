// Package codes has the result codes of the gateway. The interface documents 100, 101, 102, 111, 121 and 301; the others
// are published.
package codes

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

// Message returns the text for a code.
func Message(code int) string {
	switch code {
	case Success:
		return "successful transaction"
	case Failed:
		return "transaction failed"
	case Processing, Redirect:
		return "order processing"
	case RefundRequested:
		return "Refund request successful"
	case Refunded:
		return "Refund successful"
	case RefundFailed:
		return "Refund failed"
	case Closed:
		return "order closed"
	case SearchSuccess:
		return "Search success"
	case SearchFailed:
		return "query failed"
	case Uploaded:
		return "upload successful"
	case UploadFailed:
		return "upload failed"
	case Inactive:
		return "invalid merchant status"
	case RequestFailed:
		return "request failed"
	case Unauthorized:
		return "unauthorized"
	case NotFound:
		return "not found"
	case ParameterError:
		return "request parameter error"
	case Duplicate:
		return "duplicate transactionId"
	}
	return "system error"
}
