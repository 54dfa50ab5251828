package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

type manCommand struct{}

// Help is shown below the flags.
func (*manCommand) Help() string {
	return `To read it: cardgateway man | man -l -
To install it: cardgateway man >~/.local/share/man/man1/cardgateway.1`
}

// Run prints the manual page.
func (*manCommand) Run(c *call, ctx *kong.Context) error {
	page := &manPage{}
	page.app(ctx.Model)
	if _, err := io.WriteString(c.out, page.String()); err != nil {
		return exit.CannotWrite("manual page", err)
	}
	return nil
}

// manPage is written in the macros of man(7).
type manPage struct{ strings.Builder }

func (p *manPage) app(app *kong.Application) {
	p.macro("TH", "CARDGATEWAY", "1", "", version(), "User Commands")
	p.macro("SH", "NAME")
	p.text("cardgateway - " + strings.ToLower(description[:1]) + strings.TrimSuffix(description[1:], "."))
	p.macro("SH", "SYNOPSIS")
	p.text("cardgateway COMMAND [FLAGS]")
	p.macro("SH", "COMMANDS")
	for _, node := range app.Leaves(true) {
		p.command(node)
	}
	p.macro("SH", "GLOBAL FLAGS")
	p.flags(app.Flags)
	p.macro("SH", "CONFIGURATION AND EXIT STATUS")
	p.literal(helpEnd)
}

// command writes one command with its flags and those of its parent commands, but without the global ones.
func (p *manPage) command(node *kong.Node) {
	p.macro("SS", strings.TrimSpace("cardgateway "+argumentsOf(node)))
	p.text(node.Help)
	var own []*kong.Flag
	for at := node; at.Type != kong.ApplicationNode; at = at.Parent {
		own = slices.Concat(at.Flags, own)
	}
	for _, arg := range node.Positional {
		p.macro("TP")
		p.text(arg.Summary())
		p.text(arg.Help)
	}
	p.flags(own)
	if node.Detail != "" {
		p.literal(node.Detail)
	}
}

// argumentsOf returns a command with its arguments.
func argumentsOf(node *kong.Node) string {
	words := []string{node.Path()}
	for _, arg := range node.Positional {
		words = append(words, arg.Summary())
	}
	return strings.Join(words, " ")
}

func (p *manPage) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		name := flag.Summary()
		if flag.Short != 0 {
			name = fmt.Sprintf("-%c, %s", flag.Short, name)
		}
		p.macro("TP")
		p.text(name)
		p.text(flag.Help)
	}
}

// macro writes a macro call with its arguments.
func (p *manPage) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, arg := range args {
		p.WriteString(` "` + strings.ReplaceAll(manText(arg), `"`, `\(dq`) + `"`)
	}
	p.WriteByte('\n')
}

// text writes a line.
func (p *manPage) text(line string) {
	if line = manText(line); strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") { // would be a macro call
		line = `\&` + line
	}
	p.WriteString(line + "\n")
}

// literal writes lines without joining them.
func (p *manPage) literal(lines string) {
	p.macro("PP")
	p.macro("nf")
	for line := range strings.SplitSeq(strings.Trim(lines, "\n"), "\n") {
		p.text(line)
	}
	p.macro("fi")
}

func manText(text string) string { return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text) }
