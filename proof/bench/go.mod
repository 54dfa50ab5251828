module github.com/cardgateway/cardgateway-go/proof/bench

go 1.26.0

replace github.com/cardgateway/cardgateway-go => ../../

require (
	github.com/cardgateway/cardgateway-go v0.1.0
	github.com/shopspring/decimal v1.6.0
	github.com/stripe/stripe-go/v86 v86.1.0
)

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da // indirect
)

tool golang.org/x/perf/cmd/benchstat
