/* The keys of the gRPC connector. */
CREATE TABLE agents (`session` STRING, `text` STRING) WITH (
  'connector' = 'rocketmq-grpc',
  'rocketmq.client.endpoints' = '127.0.0.1:8081',
  'rocketmq.source.main-topic' = 'LiteMainTopic',
  'rocketmq.source.consumer-group' = 'GID-lite',
  'rocketmq.source.fetch-concurrency' = '4'
);
CREATE TABLE replies (`session` STRING, `text` STRING) WITH (
  'connector' = 'rocketmq-grpc',
  'rocketmq.client.endpoints' = '127.0.0.1:8081',
  'rocketmq.sink.topic' = 'LiteMainTopic',
  'rocketmq.sink.lite-topic' = 'my-lite-topic'
);
INSERT INTO replies SELECT * FROM agents;
