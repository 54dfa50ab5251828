// Package books keeps a merchant's copy of what a gateway has, in SQLite or Postgres, and the merchant's own lists beside it.
package books
