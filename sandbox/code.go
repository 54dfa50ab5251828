package sandbox

// Result codes. The interface documents 100, 101, 102, 111, 121 and 301; the others are published.
const (
	codeSuccess         = 100
	codeFailed          = 101
	codeProcessing      = 102
	codeClosed          = 103
	codeRefundRequested = 110
	codeRefunded        = 111
	codeRefundFailed    = 112
	codeSearchSuccess   = 121
	codeSearchFailed    = 122
	codeUploaded        = 141
	codeUploadFailed    = 142
	codeInactive        = 201
	codeRedirect        = 301
	codeRequestFailed   = 400
	codeUnauthorized    = 401
	codeNotFound        = 404
	codeParameterError  = 500
	codeDuplicate       = 501
	codeSystemError     = 999
)

// codeMessage returns the text for a code.
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
	case codeClosed:
		return "order closed"
	case codeSearchSuccess:
		return "Search success"
	case codeSearchFailed:
		return "query failed"
	case codeUploaded:
		return "upload successful"
	case codeUploadFailed:
		return "upload failed"
	case codeInactive:
		return "invalid merchant status"
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
