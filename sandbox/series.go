package sandbox

import (
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
)

// series is a list of rows in order of time: the stored orders, the stored refunds, or a book.
type series interface {
	listing.Series
	uniqueID(i int) string
	appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object
}

type orderList []*order

func (l orderList) Len() int           { return len(l) }
func (l orderList) At(i int) time.Time { return l[i].created }

func (l orderList) uniqueID(i int) string { return l[i].uniqueID }
func (l orderList) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return f.appendResult(o, l[i], true)
}

type refundList []*refund

func (l refundList) Len() int           { return len(l) }
func (l refundList) At(i int) time.Time { return l[i].requested }

func (l refundList) uniqueID(i int) string { return l[i].refundUniqueID }
func (l refundList) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return f.appendRefund(o, l[i])
}

// some is a series of selected rows of another one.
type some struct {
	series
	rows []int
}

func (s some) Len() int           { return len(s.rows) }
func (s some) At(i int) time.Time { return s.series.At(s.rows[i]) }

func (s some) uniqueID(i int) string { return s.series.uniqueID(s.rows[i]) }
func (s some) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return s.series.appendRow(o, f, s.rows[i])
}

// rowRef is one row of a series.
type rowRef = listing.RowRef[series]
