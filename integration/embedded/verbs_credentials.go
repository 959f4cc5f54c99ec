// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded

// credentialPair is what requests must be signed with; empty keys: nothing.
type credentialPair struct{ accessKey, secretKey string }

// RequireCredentials makes the broker demand from now on what [WithCredentials]
// makes it demand from the start, as when an operator switches access control on
// or replaces a user's keys. Empty keys switch it off. Open connections, streams
// and long polls stay.
func (b *Broker) RequireCredentials(accessKey, secretKey string) {
	b.demanded.Store(&credentialPair{accessKey, secretKey})
	b.core.log.Info("credentials demanded", "on", accessKey != "")
}

func (b *Broker) credentials() credentialPair {
	if p := b.demanded.Load(); p != nil {
		return *p
	}
	return credentialPair{b.cfg.accessKey, b.cfg.secretKey}
}
