CREATE TABLE rocketmq_source (msg_body VARBINARY) WITH (
'connector' = 'rocketmq5', -- 固定值
'rocketmq.client.endpoints' = 'YourEndpoint', -- 接入点
'rocketmq.source.topic' = 'YourTopic', -- 主题
'rocketmq.source.group' = 'YourConsumerGroup', -- 分组
'rocketmq.client.accessKey' = 'YourAccessKey', -- 可选
'rocketmq.client.secretKey' = 'YourSecretKey' -- 可选
);
