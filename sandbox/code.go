package sandbox

// Result codes. Those above 301, and 110 and 112, are published and not part of the interface.
const (
	codeSuccess         = 100
	codeFailed          = 101
	codeProcessing      = 102
	codeRefundRequested = 110
	codeRefunded        = 111
	codeRefundFailed    = 112
	codeSearchSuccess   = 121
	codeRedirect        = 301
	codeRequestFailed   = 400
	codeUnauthorized    = 401
	codeNotFound        = 404
	codeParameterError  = 500
	codeDuplicate       = 501
	codeSystemError     = 999
)

// codeMessage is the text that goes with a code.
func codeMessage(code int) string {
	switch code {
	case codeSuccess:
		return "successful transaction"
	case codeFailed:
		return "transaction failed"
	case codeProcessing, codeRedirect:
		return "order processing"
	case codeRefundRequested:
		return "Refund request successful"
	case codeRefunded:
		return "Refund successful"
	case codeRefundFailed:
		return "Refund failed"
	case codeSearchSuccess:
		return "Search success"
	case codeRequestFailed:
		return "request failed"
	case codeUnauthorized:
		return "unauthorized"
	case codeNotFound:
		return "not found"
	case codeParameterError:
		return "request parameter error"
	case codeDuplicate:
		return "duplicate transactionId"
	}
	return "system error"
}
