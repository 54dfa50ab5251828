// Command github makes one issue and lists them.
package main

import (
	"context"
	"log"

	"github.com/google/go-github/v92/github"
)

func main() {
	client, err := github.NewClient()
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	issue, _, err := client.Issues.Create(ctx, "shop", "orders", github.CreateIssueRequest{})
	log.Print(issue, err)
	for issue, err := range client.Issues.ListByRepoIter(ctx, "shop", "orders", nil) {
		log.Print(issue, err)
	}
}
