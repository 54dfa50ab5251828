package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

func pageRequest(ctx context.Context, base string, start, end time.Time, number, size int) (*http.Request, error) {
	q := url.Values{
		"startDate": {start.Format(time.DateTime)}, "endingDate": {end.Format(time.DateTime)},
		"currPage": {strconv.Itoa(number)}, "pageSize": {strconv.Itoa(size)},
	}
	return http.NewRequestWithContext(ctx, http.MethodGet, base+"/search/list/order?"+q.Encode(), nil)
}

// fetchPage reads a page by hand.
func fetchPage(ctx context.Context, client *http.Client, base string, start, end time.Time, number, size int) (*page, error) {
	req, err := pageRequest(ctx, base, start, end, number, size)
	if err != nil {
		return nil, err
	}
	var p page
	if err := fetch(client, req, &p); err != nil {
		return nil, err
	}
	if p.Code != int(cardgateway.CodeSearchSuccess) {
		return nil, fmt.Errorf("code %d", p.Code)
	}
	return &p, nil
}

// decoder decodes the JSON of a page into rows, without a network.
type decoder struct {
	client string
	decode func([]byte) (int, error)
}

// decoders returns the ways to decode a page. The client has no exported decoder, so it makes a search with a transport
// that returns the page at once.
func decoders() ([]decoder, error) {
	canned := new(cannedTransport)
	own, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: loopback.AppID, HTTPClient: &http.Client{Transport: canned},
	})
	if err != nil {
		return nil, err
	}
	return []decoder{
		{"hand", func(data []byte) (int, error) {
			var p page
			err := json.Unmarshal(data, &p)
			return len(p.Data), err
		}},
		{"cardgateway", func(data []byte) (int, error) {
			canned.body = data
			p, err := own.SearchOrders(context.Background(), allOrders, cardgateway.PageRequest{PageSize: 999})
			if err != nil {
				return 0, err
			}
			return len(p.Data), nil
		}},
	}, nil
}

// cannedTransport responds with its body, one request at a time.
type cannedTransport struct{ body []byte }

// RoundTrip returns the response.
func (t *cannedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Request: r,
		Body: io.NopCloser(bytes.NewReader(t.body)), ContentLength: int64(len(t.body)),
	}, nil
}

// allOrders queries the book.
var allOrders = cardgateway.OrderQuery{Start: loopback.Month(0), End: loopback.Month(1)}
