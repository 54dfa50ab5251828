package journal

import "context"

// Get returns what the store has about a payment or a refund, or ErrNoEntry. It does not query the gateway.
func (j *Journal) Get(ctx context.Context, id ID) (Entry, error) {
	if err := needContext(ctx, "Get"); err != nil {
		return Entry{}, err
	}
	return j.get(ctx, j.key(id))
}
