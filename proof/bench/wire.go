package bench

import (
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/shopspring/decimal"
)

// The types below are the same messages as a program without the client would write them for encoding/json.

type payment struct {
	TransactionID   string          `json:"transactionId"`
	OrderID         string          `json:"orderId,omitempty"`
	Currency        string          `json:"currency"`
	Amount          decimal.Decimal `json:"amount"`
	TransactionIP   string          `json:"transactionIp"`
	AppID           appNumber       `json:"appId"`
	CallbackURL     string          `json:"callbackUrl"`
	NotificationURL string          `json:"notificationUrl"`
	ProductInfos    []product       `json:"productInfos"`
	BillingAddress  *address        `json:"billingAddress,omitempty"`
	ShippingAddress *address        `json:"shippingAddress,omitempty"`
	Card            *card           `json:"card,omitempty"`
	Extension       *extension      `json:"extension,omitempty"`
}

// appNumber is a JSON number that is longer than any integer type.
type appNumber string

// MarshalJSON writes the digits without quotes.
func (n appNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// UnmarshalJSON reads the digits.
func (n *appNumber) UnmarshalJSON(b []byte) error {
	*n = appNumber(b)
	return nil
}

type product struct {
	ProductName string          `json:"productName,omitempty"`
	SKU         string          `json:"sku,omitempty"`
	ProductLink string          `json:"productLink,omitempty"`
	Currency    string          `json:"currency,omitempty"`
	Price       decimal.Decimal `json:"price"`
	Quantity    int             `json:"quantity"`
}

type address struct {
	FirstName string `json:"firstName,omitempty"`
	LastName  string `json:"lastName,omitempty"`
	Country   string `json:"country,omitempty"`
	Email     string `json:"email,omitempty"`
	City      string `json:"city,omitempty"`
	Address   string `json:"address,omitempty"`
	Phone     string `json:"phone,omitempty"`
	State     string `json:"state,omitempty"`
	ZipCode   string `json:"zipCode,omitempty"`
}

type card struct {
	ExpiredYear  string `json:"expiredYear"`
	ExpiredMonth string `json:"expiredMonth"`
	CardNumber   string `json:"cardNumber"`
	Cardholder   string `json:"cardholder"`
	CVV          string `json:"cvv"`
}

type extension struct {
	SubscriptionCycle       string `json:"subscriptionCycle"`
	SubscriptionPeriod      int    `json:"subscriptionPeriod"`
	SubscriptionDescription string `json:"subscriptionDescription,omitempty"`
}

// transaction has the fields of cardgateway.Transaction.
type transaction struct {
	Code                  int                  `json:"code"`
	Message               string               `json:"message"`
	IsTest                bool                 `json:"isTest"`
	AppID                 appNumber            `json:"appId"`
	UniqueID              string               `json:"uniqueId"`
	TransactionID         string               `json:"transactionId"`
	BillDescription       string               `json:"billDescription"`
	Timestamp             milliseconds         `json:"timestamp"`
	TransactionAmount     decimal.Decimal      `json:"transactionAmount"`
	TransactionCurrency   string               `json:"transactionCurrency"`
	TransactionAt         cardgateway.WallTime `json:"transactionAt"`
	TransactionCardNumber string               `json:"transactionCardNumber"`
	TransactionMessage    string               `json:"transactionMessage"`
	TransactionMethod     string               `json:"transactionMethod"`
	TransactionType       string               `json:"transactionType"`
	Is3D                  string               `json:"is3d"`
	RedirectURL           string               `json:"redirectUrl"`
	BillingAddress        *address             `json:"billingAddress"`
}

// milliseconds is a time, sent as milliseconds since 1970.
type milliseconds int64

func (m milliseconds) time() time.Time { return time.UnixMilli(int64(m)).UTC() }

type page struct {
	Code       int           `json:"code"`
	Message    string        `json:"message"`
	Timestamp  milliseconds  `json:"timestamp"`
	CurrPage   int           `json:"currPage"`
	PageSize   int           `json:"pageSize"`
	TotalCount int           `json:"totalCount"`
	TotalPage  int           `json:"totalPage"`
	Data       []transaction `json:"data"`
}
