// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package remoting

import "encoding/binary"

// The compact header: code (2 bytes), language (1), version (2), opaque (4),
// flag (4), remark (length 4), fields (length 4; in them each name has a
// length of 2 and each value one of 4). A server may be set to answer in it
// (rocketmq.serialize.type=ROCKETMQ).

// languages are the names behind the language bytes, in their order.
var languages = [...]string{"JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER",
	"HTTP", "GO", "PHP", "OMS", "RUST", "NODE_JS"}

func decodeBinaryHeader(b []byte) (*Command, error) {
	c := cursor{b: b}
	cmd := &Command{Code: int(int16(c.uint16()))}
	if l := int(c.uint8()); l < len(languages) {
		cmd.Language = languages[l]
	}
	cmd.Version = int(c.uint16())
	cmd.Opaque = int32(c.uint32())
	cmd.Flag = int32(c.uint32())
	cmd.Remark = string(c.bytes(int64(int32(c.uint32()))))
	fields := cursor{b: c.bytes(int64(int32(c.uint32())))}
	if c.bad {
		return nil, malformed("binary header of %d bytes", len(b))
	}
	for len(fields.b) > 0 {
		name := string(fields.bytes(int64(fields.uint16())))
		value := string(fields.bytes(int64(int32(fields.uint32()))))
		if fields.bad {
			return nil, malformed("fields of a binary header")
		}
		if cmd.Fields == nil {
			cmd.Fields = map[string]string{}
		}
		cmd.Fields[name] = value
	}
	return cmd, nil
}

// appendBinaryHeader is the inverse, for servers.
func appendBinaryHeader(b []byte, cmd *Command) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(cmd.Code))
	language := byte(7) // OTHER
	for i, name := range languages {
		if name == cmd.Language {
			language = byte(i)
		}
	}
	b = append(b, language)
	b = binary.BigEndian.AppendUint16(b, uint16(cmd.Version))
	b = binary.BigEndian.AppendUint32(b, uint32(cmd.Opaque))
	b = binary.BigEndian.AppendUint32(b, uint32(cmd.Flag))
	b = binary.BigEndian.AppendUint32(b, uint32(len(cmd.Remark)))
	b = append(b, cmd.Remark...)
	at := len(b)
	b = binary.BigEndian.AppendUint32(b, 0)
	for name, value := range cmd.Fields {
		b = binary.BigEndian.AppendUint16(b, uint16(len(name)))
		b = append(b, name...)
		b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
		b = append(b, value...)
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}
