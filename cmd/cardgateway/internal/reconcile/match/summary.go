package match

import (
	"cmp"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Summary contains the counts and totals of a comparison.
type Summary struct {
	Compared  int      // ids that were compared, of either side
	TiedOut   int      // ids on which both sides agree
	Elsewhere int      // lines of other periods
	known     int      // ids whose difference is known
	Newer     int      // lines that are newer than the copy of the gateway
	InFuture  int      // lines of what was paid or refunded at a time that has not come
	IsPart    bool     // the copy of the gateway does not have the start of the month
	Classes   []Count  // by class, kind and currency, in the order of Classes
	Bridges   []Bridge // by kind and currency
	Unused    []int    // lines of Options.Known that match no difference

	Earlier []Earlier         // what was open at the end of earlier months; not in the counts, classes and bridges
	Kept    int               // what is open at the end of the month, and is kept
	NotKept int               // what does not tie out and is not kept, because it is more than books.MostKept
	Months  []books.KeptMonth // the payments and the refunds of the month, for Books.KeepMonths

	Changed       []Changed      // what has changed of other months since they were compared; not in the counts, classes and bridges
	ChangedTotals []ChangedTotal // those of the months of Changed, and of the month itself if it was compared before
	OwnChanges    int            // what has changed of the month itself since it was compared before

	RefundsLeftOut int       // of the gateway, because there is no list of refunds
	ListUsed       time.Time // start of the other period with which the same list of payments was compared before; zero if there is none

	Causes []string // what explains nearly all differences, and what to do
}

const day = 24 * time.Hour

// Count counts the differences of one class, of payments or of refunds, in one currency.
type Count struct {
	Class    Class
	Kind     books.Kind
	Currency string // empty if the class has no amounts
	Rows     int
	Value    decimal.Decimal
	Known    int       // marked differences, which are not in Rows and Value
	Oldest   time.Time // of Rows; zero if unknown
}

// Bridge reconciles the total of the merchant's books with that of the gateway.
type Bridge struct {
	Kind     books.Kind
	Currency string
	Books    decimal.Decimal // total of the approved lines of the period
	Steps    []Step
	Gateway  decimal.Decimal // total of the approved rows of the period, added up independently of the steps
}

// Step is the amount by which the gateway's total exceeds that of the books because of one class.
type Step struct {
	Class Class
	Known bool // only the marked differences, otherwise only the others
	Rows  int  // payments or refunds
	Sum   decimal.Decimal
}

// LeftOver returns the amount that the steps do not explain. If it is not zero, the comparison is wrong.
func (b *Bridge) LeftOver() decimal.Decimal {
	left := b.Gateway.Sub(b.Books)
	for _, s := range b.Steps {
		left = left.Sub(s.Sum)
	}
	return left
}

// Differences counts the differences that are neither known, nor timing, nor unchecked, nor test payments, with those of earlier
// months, and what has changed of these.
func (s *Summary) Differences() int {
	n := s.rows(Class.isCounted)
	for i := range s.Changed {
		if !s.Changed[i].Known {
			n++
		}
	}
	return n + s.earlier(Class.isCounted)
}

// Unchecked counts what was not checked, with what is still not checked of earlier months.
func (s *Summary) Unchecked() int {
	return s.Rows(ClassUnchecked) + s.earlier(func(c Class) bool { return c == ClassUnchecked })
}

// earlier counts what is of a class now, and not known.
func (s *Summary) earlier(is func(Class) bool) (n int) {
	for i := range s.Earlier {
		if e := &s.Earlier[i]; is(e.Class) && !e.Known {
			n++
		}
	}
	return n
}

// MostTieOut reports whether more than half of what was compared ties out, without what is known.
func (s *Summary) MostTieOut() bool { return 2*s.TiedOut > s.Compared-s.known || s.Compared == s.known }

// Known counts the differences that are marked.
func (s *Summary) Known() (n int) {
	for _, c := range s.Classes {
		n += c.Known
	}
	return n
}

// Rows counts the differences of a class that are not known.
func (s *Summary) Rows(class Class) int {
	return s.rows(func(c Class) bool { return c == class })
}

// rows counts the differences of some classes that are not known.
func (s *Summary) rows(is func(Class) bool) (n int) {
	for _, c := range s.Classes {
		if is(c.Class) {
			n += c.Rows
		}
	}
	return n
}

// add counts a difference.
func (s *Summary) add(d *Difference) {
	key := Count{Class: d.Class, Kind: d.Kind, Currency: d.Currency}
	i, found := slices.BinarySearchFunc(s.Classes, key, func(a, b Count) int {
		return cmp.Or(place(a.Class)-place(b.Class), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Currency, b.Currency))
	})
	if !found {
		s.Classes = slices.Insert(s.Classes, i, key)
	}
	c := &s.Classes[i]
	if d.Known {
		c.Known++
		return
	}
	c.Rows++
	c.Value = c.Value.Add(d.Value)
	if c.Oldest.IsZero() || !d.At.IsZero() && d.At.Before(c.Oldest) {
		c.Oldest = d.At
	}
}

// total is a sum in one currency.
type total struct {
	currency string
	sum      decimal.Decimal
}

// totals are sums by currency. There are few, so a slice is faster than a map.
type totals []total

func (t *totals) add(currency string, amount decimal.Decimal) {
	for i := range *t {
		if (*t)[i].currency == currency {
			(*t)[i].sum = (*t)[i].sum.Add(amount)
			return
		}
	}
	*t = append(*t, total{currency, amount})
}

func (t totals) isZero() bool {
	return !slices.ContainsFunc(t, func(of total) bool { return !of.sum.IsZero() })
}

func (s *Summary) bridge(kind books.Kind, currency string) *Bridge {
	for i := range s.Bridges {
		if s.Bridges[i].Kind == kind && s.Bridges[i].Currency == currency {
			return &s.Bridges[i]
		}
	}
	s.Bridges = append(s.Bridges, Bridge{Kind: kind, Currency: currency})
	return &s.Bridges[len(s.Bridges)-1]
}

// gateway adds a row of the period to the gateway's total.
func (s *Summary) gateway(kind books.Kind, r *books.Row) {
	if r.State == books.StateApproved {
		b := s.bridge(kind, r.Currency)
		b.Gateway = b.Gateway.Add(r.Amount)
	}
}

// step adds the books' totals of an id to the bridges, and by how much those of the gateway exceed them to the step of its class. An id
// without a class ties out.
func (s *Summary) step(kind books.Kind, found finding, inBooks, excess totals) {
	s.Compared++
	if found.known {
		s.known++
	}
	for _, of := range inBooks {
		b := s.bridge(kind, of.currency)
		b.Books = b.Books.Add(of.sum)
	}
	if found.class == "" {
		s.TiedOut++
		return
	}
	for _, of := range excess {
		b := s.bridge(kind, of.currency)
		i := slices.IndexFunc(b.Steps, func(s Step) bool { return s.Class == found.class && s.Known == found.known })
		if i < 0 {
			i = len(b.Steps)
			b.Steps = append(b.Steps, Step{Class: found.class, Known: found.known})
		}
		b.Steps[i].Rows++
		b.Steps[i].Sum = b.Steps[i].Sum.Add(of.sum)
	}
}

// finish sorts the bridges and their steps.
func (s *Summary) finish(unused []int) {
	s.Unused = unused
	slices.SortFunc(s.Bridges, func(a, b Bridge) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Currency, b.Currency)) })
	for i := range s.Bridges {
		slices.SortFunc(s.Bridges[i].Steps, func(a, b Step) int {
			known := map[bool]int{true: 1}
			return cmp.Or(known[a.Known]-known[b.Known], place(a.Class)-place(b.Class))
		})
	}
}
