// Package contract holds the client, the sandbox and the OpenAPI description of the gateway together: a validator checks what the client sends
// and what the sandbox returns by the description, and the description has what testdata/interface.json has, and nothing else. It is a
// separate module, so that programs that import the client do not depend on the validator.
package contract
