// Copyright The rocketmq-beam Authors.
// SPDX-License-Identifier: Apache-2.0

package realmq

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// clusterName is RocketMQ's default name for a cluster.
const clusterName = "DefaultCluster"

// brokerProperties makes lite topics and property filters work, keeps files
// small, and shortens the intervals that tests would otherwise wait for: with
// the broker's own values a wildcard group sees a message after up to 10 s,
// and the first check of a half message comes after 6 s at the earliest.
func brokerProperties(dir string, p ports) map[string]string {
	store := filepath.Join(dir, "store")
	return map[string]string{
		"brokerClusterName": clusterName,
		"brokerName":        "broker-a",
		"brokerId":          "0",
		"brokerIP1":         "127.0.0.1",
		"bindAddress":       "127.0.0.1",
		"listenPort":        strconv.Itoa(p.broker),
		"haListenPort":      strconv.Itoa(p.ha),
		"namesrvAddr":       loopback(p.nameServer),

		"storePathRootDir":           store,
		"storePathCommitLog":         filepath.Join(store, "commitlog"),
		"mappedFileSizeCommitLog":    "67108864",
		"mappedFileSizeConsumeQueue": "300000",
		"enableLmq":                  "true",
		"enableMultiDispatch":        "true",
		"enablePropertyFilter":       "true",

		"liteEventCheckInterval":                         "1000",
		"liteEventFullDispatchDelayTime":                 "500",
		"liteEventFullDispatchDelayTimeForWildcardGroup": "500",
		"transactionCheckInterval":                       "5000",
		"transactionTimeOut":                             "3000",
	}
}

// proxySettings keeps the proxy's caches young, so that a topic or group
// which is changed is seen so after two seconds and not after twenty.
func proxySettings(p ports) map[string]any {
	return map[string]any{
		"rocketMQClusterName": clusterName,
		"proxyMode":           "CLUSTER",
		"namesrvAddr":         loopback(p.nameServer),
		"grpcServerPort":      p.grpc,
		"remotingListenPort":  p.remoting,
		"localServeAddr":      "127.0.0.1",

		"topicRouteServiceCacheRefreshSeconds":       2,
		"topicConfigCacheRefreshSeconds":             2,
		"subscriptionGroupConfigCacheRefreshSeconds": 2,
		"grpcShutdownTimeSeconds":                    1,
	}
}

// writeSettings writes the three configuration files into dir.
func writeSettings(dir string, p ports, cfg *config) error {
	nameServer := map[string]string{
		"listenPort":  strconv.Itoa(p.nameServer),
		"bindAddress": "127.0.0.1",
	}
	broker := brokerProperties(dir, p)
	maps.Copy(broker, cfg.broker)
	proxy := proxySettings(p)
	maps.Copy(proxy, cfg.proxy)
	proxyJSON, err := json.MarshalIndent(proxy, "", "  ")
	if err != nil {
		return fmt.Errorf("settings of the proxy: %w", err)
	}
	for name, content := range map[string][]byte{
		nameServerFile: properties(nameServer),
		brokerFile:     properties(broker),
		proxyFile:      proxyJSON,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("settings: %w", err)
		}
	}
	return nil
}

// properties writes a Java properties file, sorted.
func properties(m map[string]string) []byte {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, "%s=%s\n", k, strings.ReplaceAll(m[k], `\`, `\\`))
	}
	return []byte(b.String())
}
