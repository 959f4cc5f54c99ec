CREATE TABLE rocketmq_sink (`user_id` BIGINT,`item_id` BIGINT,`behavior` STRING) WITH (
'connector' = 'rocketmq4', -- 固定值
'rocketmq.sink.topic' = 'YourTopic', -- 主题
'rocketmq.client.endpoints' = 'http://rocketmq-xxx.rocketmq.gz.qcloud.tencenttdmq.com:9876',-- 接入点
'rocketmq.sink.group' = 'YourProducerGroup', -- 分组
'rocketmq.client.accessKey' = 'YourAccessKey', -- 可选
'rocketmq.client.secretKey' = 'YourSecretKey' -- 可选
);
