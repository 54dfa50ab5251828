// Command empty does nothing: it shows the cost of a Go program.
package main

func main() {}
