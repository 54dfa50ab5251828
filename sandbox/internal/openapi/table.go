package openapi

// table is testdata/interface.json; see testdata/README.md.
type table struct {
	Operations, PublishedOperations []operation
	Objects, Results                map[string][]member
	PublishedMembers, Notifications map[string][]member
	Codes                           []code
	Cycles                          []struct{ Value string }
}

type operation struct {
	Name, Heading, Method, Path, Body, Source string
	MinItems, MaxItems                        int
	Members                                   []member
	Responses                                 []response
}

func (o *operation) isPublished() bool { return o.Source == published }

type member struct {
	Name, In, Type, Object, Format, Note string
	Value                                string // the only one, if there is one
	Required, RequiredWhen               string
	RequiredIn                           []string
	Limit, Digits, Decimals              int
	PublicFacts                          facts
	Source                               string
}

// facts holds what is published about a member beyond the interface.
type facts struct {
	Limit, Digits, Decimals int
	Required, Note          string
}

type response struct {
	Code   int
	Source string
}

type code struct {
	Code            int
	Meaning, Source string
}

// Sources of what is not in the interface.
const (
	published = "public-facts"
	own       = "own"
)
