// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

// Command is one request or answer of the protocol.
type Command struct {
	// Code is what is asked, or how it went.
	Code int
	// Language of the sender, for instance "JAVA"; empty if unknown.
	Language string
	// Version is the ordinal of the sender's RocketMQ version.
	Version int
	// Opaque matches an answer to its request within a connection.
	Opaque int32
	// Flag has bit 0 set in an answer, bit 1 in a request that wants none.
	Flag int32
	// Remark is the sender's text for people.
	Remark string
	// Fields are the named values of this code.
	Fields map[string]string
	// Body is what goes with it; its form depends on the code.
	Body []byte
}

const (
	flagAnswer = 1 << 0
	flagOneWay = 1 << 1
)

// IsAnswer says that the command answers a request.
func (c *Command) IsAnswer() bool { return c.Flag&flagAnswer != 0 }

// IsOneWay says that the sender wants no answer.
func (c *Command) IsOneWay() bool { return c.Flag&flagOneWay != 0 }

const (
	ownLanguage = "GO"
	// ownVersion is the ordinal of 5.5.0. Servers look at it: from 4.9.4 on
	// name servers write routes in standard JSON, and after 5.3.1 a server that
	// shuts down answers GO_AWAY to requests it has not begun.
	ownVersion = 513
)
