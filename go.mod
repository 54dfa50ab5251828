module github.com/cardgateway/cardgateway-go

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/hashicorp/go-retryablehttp v0.7.8
	github.com/jarcoal/httpmock v1.4.2
	github.com/shopspring/decimal v1.6.0
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
