package main

type shellCommand struct{}
type manCommand struct{}

func (*shellCommand) Run(c *call) error { return nil }
func (*manCommand) Run(c *call) error   { return nil }
