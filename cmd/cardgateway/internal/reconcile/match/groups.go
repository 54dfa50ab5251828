package match

import (
	"cmp"
	"fmt"
	"iter"
)

// maxGroup is the maximum number of rows with one id. More are an error in the data, not retries of a payment.
const maxGroup = 10_000

// groups returns the rows with the same key together, in a slice that the next group overwrites. It is an error if the rows are
// not sorted by the key. Each row with an empty key is a group of its own.
func groups[T any, K cmp.Ordered](what string, rows iter.Seq2[T, error], key func(*T) K) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		var group []T
		var none K
		for row, err := range rows {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(group) > 0 {
				last, now := key(&group[0]), key(&row)
				switch {
				case now < last:
					yield(nil, fmt.Errorf("%s are not sorted: %#v comes after %#v", what, now, last))
					return
				case now != last || now == none:
					if !yield(group, nil) {
						return
					}
					group = group[:0]
				case len(group) == maxGroup:
					yield(nil, fmt.Errorf("%s: more than %d have the id %#v", what, maxGroup, last))
					return
				}
			}
			group = append(group, row)
		}
		if len(group) > 0 {
			yield(group, nil)
		}
	}
}
