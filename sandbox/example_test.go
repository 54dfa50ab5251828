package sandbox_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// subscribe is the code under test: it sends one direct subscription and returns the result code.
func subscribe(baseURL, transactionID, cvv string) (code int, err error) {
	request := fmt.Sprintf(`{
		"transactionId": %q, "orderId": %[1]q, "currency": "USD", "amount": "8.80", "appId": 7,
		"transactionIp": "127.0.0.1", "callbackUrl": "https://shop.example/back",
		"notificationUrl": "https://shop.example/notify",
		"productInfos": [{"productName": "Candle", "quantity": 1, "price": "8.80"}],
		"billingAddress": {"country": "US"},
		"extension": {"subscriptionCycle": "WEEK", "subscriptionPeriod": 3},
		"card": {"cardNumber": "4300000000000000", "expiredMonth": "12", "expiredYear": "39",
			"cvv": %q, "cardholder": "Ada Example"}}`, transactionID, cvv)
	resp, err := http.Post(baseURL+"/api/subscription", "application/json", strings.NewReader(request))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var result struct{ Code int }
	err = json.NewDecoder(resp.Body).Decode(&result)
	return result.Code, err
}

func ExampleStart() {
	server, err := sandbox.Start(sandbox.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	for _, cvv := range []string{"123", "650", "750", "900"} {
		code, _ := subscribe(server.URL, "order-"+cvv, cvv)
		fmt.Println("CVV", cvv, "code", code, "charged", server.Executed("order-"+cvv))
	}
	// Output:
	// CVV 123 code 100 charged 1
	// CVV 650 code 102 charged 0
	// CVV 750 code 301 charged 0
	// CVV 900 code 101 charged 0
}

// The response to a payment is lost after the money has moved: does the code under test report an error, and does it pay
// again?
func ExampleGateway_Inject() {
	server, err := sandbox.Start(sandbox.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	server.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	_, err = subscribe(server.URL, "order-1", "123")
	fmt.Println("error:", err != nil, "charged:", server.Executed("order-1"))
	// Output:
	// error: true charged: 1
}

// A token payment needs a token, which a cardholder creates on the hosted page. NewToken does it without the page.
func ExampleGateway_NewToken() {
	gateway := sandbox.New(sandbox.Options{NoNotifications: true})
	token := gateway.NewToken(sandbox.Declined)
	client := &http.Client{Transport: gateway.RoundTripper()}
	resp, err := client.Post("https://gateway.test/checkout/tokenization/payment/"+token, "application/json", strings.NewReader(`{
		"transactionId": "order-1", "currency": "USD", "amount": "8.80", "transactionIp": "127.0.0.1",
		"callbackUrl": "https://shop.example/back", "notificationUrl": "https://shop.example/notify",
		"productInfos": [{"productName": "Candle", "quantity": 1, "price": "8.80"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var result struct {
		Code               int
		TransactionMessage string
	}
	if err := json.NewDecoder(resp.Body).Decode(&result); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Code, result.TransactionMessage)
	// Output:
	// 101 Declined
}

// A unit test of a merchant's notification handler, without any gateway.
func ExampleNotificationRequest() {
	shop := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n struct{ TransactionID, Sign string }
		_ = json.NewDecoder(r.Body).Decode(&n)
		fmt.Println(n.TransactionID, "signed with", len(n.Sign), "digits")
	})
	r, err := sandbox.NotificationRequest("https://shop.example/notify", "test-secret", map[string]any{
		"code": 100, "appId": 7, "uniqueId": "1867098610731065345", "transactionType": "Sale",
		"transactionId": "order-1", "transactionAmount": "8.80", "transactionCurrency": "USD",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	shop.ServeHTTP(httptest.NewRecorder(), r)
	// Output:
	// order-1 signed with 64 digits
}

// Five million orders over a year, at the pace of a shop, need no memory.
func ExampleGateway_SeedOrders() {
	gateway := sandbox.New(sandbox.Options{})
	year := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	gateway.SeedOrders(sandbox.SeedOptions{N: 5_000_000, From: year, To: year.AddDate(1, 0, 0), Random: true})
	client := &http.Client{Transport: gateway.RoundTripper()}
	resp, err := client.Get("https://gateway.test/search/list/order?startDate=2024-02-01&endingDate=2024-02-29&pageSize=999")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var page struct {
		Code, TotalCount int
		Data             []struct{ UniqueID string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(page.Code, len(page.Data), page.TotalCount > 300_000)
	// Output:
	// 121 999 true
}
