INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(240 + octet_length(accounts.id) + octet_length(accounts.user_name) + octet_length(accounts.name) + octet_length(accounts.time_zone) + octet_length(accounts.day) + ifnull(octet_length(accounts.messages_per_day), 0) + ifnull(octet_length(accounts.emergency), 0) + ifnull(octet_length(accounts.rules_version), 0))
FROM accounts WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER accounts_usage_insert AFTER INSERT ON accounts BEGIN
  INSERT INTO account_usage (account_id, day, locations, storage_bytes)
    VALUES (NEW.id, NEW.day, 0, 240 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_update AFTER UPDATE ON accounts WHEN (240 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (240 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (240 + octet_length(NEW.id) + octet_length(NEW.user_name) + octet_length(NEW.name) + octet_length(NEW.time_zone) + octet_length(NEW.day) + ifnull(octet_length(NEW.messages_per_day), 0) + ifnull(octet_length(NEW.emergency), 0) + ifnull(octet_length(NEW.rules_version), 0))
    - (240 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = NEW.id;
END;--> statement-breakpoint
CREATE TRIGGER accounts_usage_delete AFTER DELETE ON accounts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(240 + octet_length(OLD.id) + octet_length(OLD.user_name) + octet_length(OLD.name) + octet_length(OLD.time_zone) + octet_length(OLD.day) + ifnull(octet_length(OLD.messages_per_day), 0) + ifnull(octet_length(OLD.emergency), 0) + ifnull(octet_length(OLD.rules_version), 0)))
    WHERE account_id = OLD.id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(304 + octet_length(alerts.id) + octet_length(alerts.account_id) + octet_length(alerts.name) + octet_length(alerts.text) + octet_length(alerts.position_source) + ifnull(octet_length(alerts.acknowledged_by), 0) + ifnull(octet_length(alerts.cancelled_by), 0) + ifnull(octet_length(alerts.updates), 0) + ifnull(octet_length(alerts.rule_id), 0) + ifnull(octet_length(alerts.zone_id), 0))
FROM alerts JOIN accounts ON accounts.id = alerts.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER alerts_usage_insert AFTER INSERT ON alerts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_update AFTER UPDATE ON alerts WHEN (304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0))
    - (304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (304 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.text) + octet_length(NEW.position_source) + ifnull(octet_length(NEW.acknowledged_by), 0) + ifnull(octet_length(NEW.cancelled_by), 0) + ifnull(octet_length(NEW.updates), 0) + ifnull(octet_length(NEW.rule_id), 0) + ifnull(octet_length(NEW.zone_id), 0))
    - (304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER alerts_usage_delete AFTER DELETE ON alerts BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(304 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.text) + octet_length(OLD.position_source) + ifnull(octet_length(OLD.acknowledged_by), 0) + ifnull(octet_length(OLD.cancelled_by), 0) + ifnull(octet_length(OLD.updates), 0) + ifnull(octet_length(OLD.rule_id), 0) + ifnull(octet_length(OLD.zone_id), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(240 + octet_length(commands.id) + octet_length(commands.account_id) + octet_length(commands.format) + octet_length(commands.command) + octet_length(commands.status) + ifnull(octet_length(commands.answer), 0))
FROM commands JOIN accounts ON accounts.id = commands.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER commands_usage_insert AFTER INSERT ON commands BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 240 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.format) + octet_length(NEW.command) + octet_length(NEW.status) + ifnull(octet_length(NEW.answer), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER commands_usage_update AFTER UPDATE ON commands WHEN (240 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.format) + octet_length(NEW.command) + octet_length(NEW.status) + ifnull(octet_length(NEW.answer), 0))
    - (240 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.format) + octet_length(OLD.command) + octet_length(OLD.status) + ifnull(octet_length(OLD.answer), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (240 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.format) + octet_length(NEW.command) + octet_length(NEW.status) + ifnull(octet_length(NEW.answer), 0))
    - (240 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.format) + octet_length(OLD.command) + octet_length(OLD.status) + ifnull(octet_length(OLD.answer), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER commands_usage_delete AFTER DELETE ON commands BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(240 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.format) + octet_length(OLD.command) + octet_length(OLD.status) + ifnull(octet_length(OLD.answer), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(448 + octet_length(devices.id) + octet_length(devices.account_id) + octet_length(devices.name) + octet_length(devices.name_key) + octet_length(devices.description) + octet_length(devices.min) + ifnull(octet_length(devices.identifier), 0) + ifnull(octet_length(devices.identifier_key), 0) + octet_length(devices.model) + octet_length(devices.tags) + ifnull(octet_length(devices.expiration_date), 0) + ifnull(octet_length(devices.ends), 0) + ifnull(octet_length(devices.usage_date), 0) + ifnull(octet_length(devices.source_id), 0))
FROM devices JOIN accounts ON accounts.id = devices.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER devices_usage_insert AFTER INSERT ON devices BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 448 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.description) + octet_length(NEW.min) + ifnull(octet_length(NEW.identifier), 0) + ifnull(octet_length(NEW.identifier_key), 0) + octet_length(NEW.model) + octet_length(NEW.tags) + ifnull(octet_length(NEW.expiration_date), 0) + ifnull(octet_length(NEW.ends), 0) + ifnull(octet_length(NEW.usage_date), 0) + ifnull(octet_length(NEW.source_id), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER devices_usage_update AFTER UPDATE ON devices WHEN (448 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.description) + octet_length(NEW.min) + ifnull(octet_length(NEW.identifier), 0) + ifnull(octet_length(NEW.identifier_key), 0) + octet_length(NEW.model) + octet_length(NEW.tags) + ifnull(octet_length(NEW.expiration_date), 0) + ifnull(octet_length(NEW.ends), 0) + ifnull(octet_length(NEW.usage_date), 0) + ifnull(octet_length(NEW.source_id), 0))
    - (448 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.description) + octet_length(OLD.min) + ifnull(octet_length(OLD.identifier), 0) + ifnull(octet_length(OLD.identifier_key), 0) + octet_length(OLD.model) + octet_length(OLD.tags) + ifnull(octet_length(OLD.expiration_date), 0) + ifnull(octet_length(OLD.ends), 0) + ifnull(octet_length(OLD.usage_date), 0) + ifnull(octet_length(OLD.source_id), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (448 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.description) + octet_length(NEW.min) + ifnull(octet_length(NEW.identifier), 0) + ifnull(octet_length(NEW.identifier_key), 0) + octet_length(NEW.model) + octet_length(NEW.tags) + ifnull(octet_length(NEW.expiration_date), 0) + ifnull(octet_length(NEW.ends), 0) + ifnull(octet_length(NEW.usage_date), 0) + ifnull(octet_length(NEW.source_id), 0))
    - (448 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.description) + octet_length(OLD.min) + ifnull(octet_length(OLD.identifier), 0) + ifnull(octet_length(OLD.identifier_key), 0) + octet_length(OLD.model) + octet_length(OLD.tags) + ifnull(octet_length(OLD.expiration_date), 0) + ifnull(octet_length(OLD.ends), 0) + ifnull(octet_length(OLD.usage_date), 0) + ifnull(octet_length(OLD.source_id), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER devices_usage_delete AFTER DELETE ON devices BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(448 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.description) + octet_length(OLD.min) + ifnull(octet_length(OLD.identifier), 0) + ifnull(octet_length(OLD.identifier_key), 0) + octet_length(OLD.model) + octet_length(OLD.tags) + ifnull(octet_length(OLD.expiration_date), 0) + ifnull(octet_length(OLD.ends), 0) + ifnull(octet_length(OLD.usage_date), 0) + ifnull(octet_length(OLD.source_id), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(96 + octet_length(erasures.account_id) + octet_length(erasures.id))
FROM erasures JOIN accounts ON accounts.id = erasures.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER erasures_usage_insert AFTER INSERT ON erasures BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 96 + octet_length(NEW.account_id) + octet_length(NEW.id))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER erasures_usage_update AFTER UPDATE ON erasures WHEN (96 + octet_length(NEW.account_id) + octet_length(NEW.id))
    - (96 + octet_length(OLD.account_id) + octet_length(OLD.id)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (96 + octet_length(NEW.account_id) + octet_length(NEW.id))
    - (96 + octet_length(OLD.account_id) + octet_length(OLD.id)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER erasures_usage_delete AFTER DELETE ON erasures BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(96 + octet_length(OLD.account_id) + octet_length(OLD.id)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(40 + octet_length(event_heads.account_id))
FROM event_heads JOIN accounts ON accounts.id = event_heads.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER event_heads_usage_insert AFTER INSERT ON event_heads BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 40 + octet_length(NEW.account_id))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER event_heads_usage_update AFTER UPDATE ON event_heads WHEN (40 + octet_length(NEW.account_id))
    - (40 + octet_length(OLD.account_id)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (40 + octet_length(NEW.account_id))
    - (40 + octet_length(OLD.account_id)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER event_heads_usage_delete AFTER DELETE ON event_heads BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(40 + octet_length(OLD.account_id)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(224 + octet_length(events.account_id) + octet_length(events.id) + octet_length(events.type) + ifnull(octet_length(events.device_id), 0) + octet_length(events.data))
FROM events JOIN accounts ON accounts.id = events.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER events_usage_insert AFTER INSERT ON events BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 224 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.type) + ifnull(octet_length(NEW.device_id), 0) + octet_length(NEW.data))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER events_usage_update AFTER UPDATE ON events WHEN (224 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.type) + ifnull(octet_length(NEW.device_id), 0) + octet_length(NEW.data))
    - (224 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.type) + ifnull(octet_length(OLD.device_id), 0) + octet_length(OLD.data)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (224 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.type) + ifnull(octet_length(NEW.device_id), 0) + octet_length(NEW.data))
    - (224 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.type) + ifnull(octet_length(OLD.device_id), 0) + octet_length(OLD.data)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER events_usage_delete AFTER DELETE ON events BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(224 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.type) + ifnull(octet_length(OLD.device_id), 0) + octet_length(OLD.data)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(288 + octet_length(group_devices.group_id) + octet_length(group_devices.account_id) + octet_length(group_devices.name_key))
FROM group_devices JOIN accounts ON accounts.id = group_devices.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER group_devices_usage_insert AFTER INSERT ON group_devices BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 288 + octet_length(NEW.group_id) + octet_length(NEW.account_id) + octet_length(NEW.name_key))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER group_devices_usage_update AFTER UPDATE ON group_devices WHEN (288 + octet_length(NEW.group_id) + octet_length(NEW.account_id) + octet_length(NEW.name_key))
    - (288 + octet_length(OLD.group_id) + octet_length(OLD.account_id) + octet_length(OLD.name_key)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (288 + octet_length(NEW.group_id) + octet_length(NEW.account_id) + octet_length(NEW.name_key))
    - (288 + octet_length(OLD.group_id) + octet_length(OLD.account_id) + octet_length(OLD.name_key)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER group_devices_usage_delete AFTER DELETE ON group_devices BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(288 + octet_length(OLD.group_id) + octet_length(OLD.account_id) + octet_length(OLD.name_key)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(168 + octet_length(groups.id) + octet_length(groups.account_id) + octet_length(groups.name) + octet_length(groups.name_key) + octet_length(groups.description))
FROM groups JOIN accounts ON accounts.id = groups.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER groups_usage_insert AFTER INSERT ON groups BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 168 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.description))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER groups_usage_update AFTER UPDATE ON groups WHEN (168 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.description))
    - (168 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.description)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (168 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.description))
    - (168 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.description)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER groups_usage_delete AFTER DELETE ON groups BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(168 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.description)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(104 + octet_length(idempotency.account_id) + octet_length(idempotency.principal) + octet_length(idempotency.key) + octet_length(idempotency.request) + ifnull(octet_length(idempotency.headers), 0) + ifnull(octet_length(idempotency.body), 0))
FROM idempotency JOIN accounts ON accounts.id = idempotency.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER idempotency_usage_insert AFTER INSERT ON idempotency BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 104 + octet_length(NEW.account_id) + octet_length(NEW.principal) + octet_length(NEW.key) + octet_length(NEW.request) + ifnull(octet_length(NEW.headers), 0) + ifnull(octet_length(NEW.body), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER idempotency_usage_update AFTER UPDATE ON idempotency WHEN (104 + octet_length(NEW.account_id) + octet_length(NEW.principal) + octet_length(NEW.key) + octet_length(NEW.request) + ifnull(octet_length(NEW.headers), 0) + ifnull(octet_length(NEW.body), 0))
    - (104 + octet_length(OLD.account_id) + octet_length(OLD.principal) + octet_length(OLD.key) + octet_length(OLD.request) + ifnull(octet_length(OLD.headers), 0) + ifnull(octet_length(OLD.body), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (104 + octet_length(NEW.account_id) + octet_length(NEW.principal) + octet_length(NEW.key) + octet_length(NEW.request) + ifnull(octet_length(NEW.headers), 0) + ifnull(octet_length(NEW.body), 0))
    - (104 + octet_length(OLD.account_id) + octet_length(OLD.principal) + octet_length(OLD.key) + octet_length(OLD.request) + ifnull(octet_length(OLD.headers), 0) + ifnull(octet_length(OLD.body), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER idempotency_usage_delete AFTER DELETE ON idempotency BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(104 + octet_length(OLD.account_id) + octet_length(OLD.principal) + octet_length(OLD.key) + octet_length(OLD.request) + ifnull(octet_length(OLD.headers), 0) + ifnull(octet_length(OLD.body), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(240 + octet_length(keys.id) + octet_length(keys.account_id) + octet_length(keys.name) + octet_length(keys.scopes) + octet_length(keys.hash) + ifnull(octet_length(keys.user_id), 0))
FROM keys JOIN accounts ON accounts.id = keys.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER keys_usage_insert AFTER INSERT ON keys BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 240 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_update AFTER UPDATE ON keys WHEN (240 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0))
    - (240 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (240 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.scopes) + octet_length(NEW.hash) + ifnull(octet_length(NEW.user_id), 0))
    - (240 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER keys_usage_delete AFTER DELETE ON keys BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(240 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.scopes) + octet_length(OLD.hash) + ifnull(octet_length(OLD.user_id), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(256 + octet_length(messages.account_id) + octet_length(messages.id) + octet_length(messages.kind) + octet_length(messages.channel) + octet_length(messages.recipient) + ifnull(octet_length(messages.user_id), 0) + ifnull(octet_length(messages.contact), 0) + ifnull(octet_length(messages.text_of), 0) + octet_length(messages.subject) + octet_length(messages.text) + ifnull(octet_length(messages.link_hash), 0) + ifnull(octet_length(messages.link), 0) + octet_length(messages.status) + ifnull(octet_length(messages.reason), 0) + ifnull(octet_length(messages.provider), 0))
FROM messages JOIN accounts ON accounts.id = messages.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER messages_usage_insert AFTER INSERT ON messages BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 256 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.kind) + octet_length(NEW.channel) + octet_length(NEW.recipient) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.contact), 0) + ifnull(octet_length(NEW.text_of), 0) + octet_length(NEW.subject) + octet_length(NEW.text) + ifnull(octet_length(NEW.link_hash), 0) + ifnull(octet_length(NEW.link), 0) + octet_length(NEW.status) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.provider), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER messages_usage_update AFTER UPDATE ON messages WHEN (256 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.kind) + octet_length(NEW.channel) + octet_length(NEW.recipient) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.contact), 0) + ifnull(octet_length(NEW.text_of), 0) + octet_length(NEW.subject) + octet_length(NEW.text) + ifnull(octet_length(NEW.link_hash), 0) + ifnull(octet_length(NEW.link), 0) + octet_length(NEW.status) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.provider), 0))
    - (256 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.kind) + octet_length(OLD.channel) + octet_length(OLD.recipient) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.contact), 0) + ifnull(octet_length(OLD.text_of), 0) + octet_length(OLD.subject) + octet_length(OLD.text) + ifnull(octet_length(OLD.link_hash), 0) + ifnull(octet_length(OLD.link), 0) + octet_length(OLD.status) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.provider), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (256 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.kind) + octet_length(NEW.channel) + octet_length(NEW.recipient) + ifnull(octet_length(NEW.user_id), 0) + ifnull(octet_length(NEW.contact), 0) + ifnull(octet_length(NEW.text_of), 0) + octet_length(NEW.subject) + octet_length(NEW.text) + ifnull(octet_length(NEW.link_hash), 0) + ifnull(octet_length(NEW.link), 0) + octet_length(NEW.status) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.provider), 0))
    - (256 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.kind) + octet_length(OLD.channel) + octet_length(OLD.recipient) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.contact), 0) + ifnull(octet_length(OLD.text_of), 0) + octet_length(OLD.subject) + octet_length(OLD.text) + ifnull(octet_length(OLD.link_hash), 0) + ifnull(octet_length(OLD.link), 0) + octet_length(OLD.status) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.provider), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER messages_usage_delete AFTER DELETE ON messages BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(256 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.kind) + octet_length(OLD.channel) + octet_length(OLD.recipient) + ifnull(octet_length(OLD.user_id), 0) + ifnull(octet_length(OLD.contact), 0) + ifnull(octet_length(OLD.text_of), 0) + octet_length(OLD.subject) + octet_length(OLD.text) + ifnull(octet_length(OLD.link_hash), 0) + ifnull(octet_length(OLD.link), 0) + octet_length(OLD.status) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.provider), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(88 + octet_length(pending_raises.account_id) + octet_length(pending_raises.id) + octet_length(pending_raises.raise))
FROM pending_raises JOIN accounts ON accounts.id = pending_raises.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER pending_raises_usage_insert AFTER INSERT ON pending_raises BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 88 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.raise))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER pending_raises_usage_update AFTER UPDATE ON pending_raises WHEN (88 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.raise))
    - (88 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.raise)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (88 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.raise))
    - (88 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.raise)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER pending_raises_usage_delete AFTER DELETE ON pending_raises BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(88 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.raise)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(232 + octet_length(quarantine.id) + octet_length(quarantine.account_id) + octet_length(quarantine.reason) + octet_length(quarantine.packed))
FROM quarantine JOIN accounts ON accounts.id = quarantine.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER quarantine_usage_insert AFTER INSERT ON quarantine BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 232 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.reason) + octet_length(NEW.packed))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER quarantine_usage_update AFTER UPDATE ON quarantine WHEN (232 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.reason) + octet_length(NEW.packed))
    - (232 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.reason) + octet_length(OLD.packed)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (232 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.reason) + octet_length(NEW.packed))
    - (232 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.reason) + octet_length(OLD.packed)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER quarantine_usage_delete AFTER DELETE ON quarantine BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(232 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.reason) + octet_length(OLD.packed)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(176 + octet_length(rules.id) + octet_length(rules.account_id) + octet_length(rules.type) + octet_length(rules.record))
FROM rules JOIN accounts ON accounts.id = rules.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER rules_usage_insert AFTER INSERT ON rules BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.type) + octet_length(NEW.record))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER rules_usage_update AFTER UPDATE ON rules WHEN (176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.type) + octet_length(NEW.record))
    - (176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.type) + octet_length(OLD.record)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.type) + octet_length(NEW.record))
    - (176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.type) + octet_length(OLD.record)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER rules_usage_delete AFTER DELETE ON rules BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.type) + octet_length(OLD.record)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(176 + octet_length(sessions.id) + octet_length(sessions.account_id) + octet_length(sessions.user_id) + octet_length(sessions.user_agent))
FROM sessions JOIN accounts ON accounts.id = sessions.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER sessions_usage_insert AFTER INSERT ON sessions BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + octet_length(NEW.user_agent))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sessions_usage_update AFTER UPDATE ON sessions WHEN (176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + octet_length(NEW.user_agent))
    - (176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + octet_length(OLD.user_agent)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (176 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.user_id) + octet_length(NEW.user_agent))
    - (176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + octet_length(OLD.user_agent)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sessions_usage_delete AFTER DELETE ON sessions BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(176 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.user_id) + octet_length(OLD.user_agent)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(160 + octet_length(silent_marks.rule_id) + octet_length(silent_marks.account_id))
FROM silent_marks JOIN accounts ON accounts.id = silent_marks.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER silent_marks_usage_insert AFTER INSERT ON silent_marks BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 160 + octet_length(NEW.rule_id) + octet_length(NEW.account_id))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER silent_marks_usage_update AFTER UPDATE ON silent_marks WHEN (160 + octet_length(NEW.rule_id) + octet_length(NEW.account_id))
    - (160 + octet_length(OLD.rule_id) + octet_length(OLD.account_id)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (160 + octet_length(NEW.rule_id) + octet_length(NEW.account_id))
    - (160 + octet_length(OLD.rule_id) + octet_length(OLD.account_id)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER silent_marks_usage_delete AFTER DELETE ON silent_marks BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(160 + octet_length(OLD.rule_id) + octet_length(OLD.account_id)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(288 + octet_length(source_payloads.id) + octet_length(source_payloads.account_id) + octet_length(source_payloads.source_id) + ifnull(octet_length(source_payloads.reason), 0) + ifnull(octet_length(source_payloads.push), 0))
FROM source_payloads JOIN accounts ON accounts.id = source_payloads.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER source_payloads_usage_insert AFTER INSERT ON source_payloads BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 288 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.source_id) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.push), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER source_payloads_usage_update AFTER UPDATE ON source_payloads WHEN (288 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.source_id) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.push), 0))
    - (288 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.source_id) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.push), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (288 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.source_id) + ifnull(octet_length(NEW.reason), 0) + ifnull(octet_length(NEW.push), 0))
    - (288 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.source_id) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.push), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER source_payloads_usage_delete AFTER DELETE ON source_payloads BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(288 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.source_id) + ifnull(octet_length(OLD.reason), 0) + ifnull(octet_length(OLD.push), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(136 + octet_length(sources.id) + octet_length(sources.account_id) + octet_length(sources.name) + octet_length(sources.provider) + octet_length(sources.settings) + octet_length(sources.new_devices) + octet_length(sources.hash))
FROM sources JOIN accounts ON accounts.id = sources.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER sources_usage_insert AFTER INSERT ON sources BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 136 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.provider) + octet_length(NEW.settings) + octet_length(NEW.new_devices) + octet_length(NEW.hash))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sources_usage_update AFTER UPDATE ON sources WHEN (136 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.provider) + octet_length(NEW.settings) + octet_length(NEW.new_devices) + octet_length(NEW.hash))
    - (136 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.provider) + octet_length(OLD.settings) + octet_length(OLD.new_devices) + octet_length(OLD.hash)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (136 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.provider) + octet_length(NEW.settings) + octet_length(NEW.new_devices) + octet_length(NEW.hash))
    - (136 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.provider) + octet_length(OLD.settings) + octet_length(OLD.new_devices) + octet_length(OLD.hash)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER sources_usage_delete AFTER DELETE ON sources BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(136 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.provider) + octet_length(OLD.settings) + octet_length(OLD.new_devices) + octet_length(OLD.hash)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(96 + octet_length(tombstones.account_id) + octet_length(tombstones.id) + octet_length(tombstones.groups))
FROM tombstones JOIN accounts ON accounts.id = tombstones.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER tombstones_usage_insert AFTER INSERT ON tombstones BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 96 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.groups))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER tombstones_usage_update AFTER UPDATE ON tombstones WHEN (96 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.groups))
    - (96 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.groups)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (96 + octet_length(NEW.account_id) + octet_length(NEW.id) + octet_length(NEW.groups))
    - (96 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.groups)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER tombstones_usage_delete AFTER DELETE ON tombstones BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(96 + octet_length(OLD.account_id) + octet_length(OLD.id) + octet_length(OLD.groups)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(232 + octet_length(unclaimed.source_id) + octet_length(unclaimed.identifier_key) + octet_length(unclaimed.account_id) + octet_length(unclaimed.identifier))
FROM unclaimed JOIN accounts ON accounts.id = unclaimed.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER unclaimed_usage_insert AFTER INSERT ON unclaimed BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 232 + octet_length(NEW.source_id) + octet_length(NEW.identifier_key) + octet_length(NEW.account_id) + octet_length(NEW.identifier))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_usage_update AFTER UPDATE ON unclaimed WHEN (232 + octet_length(NEW.source_id) + octet_length(NEW.identifier_key) + octet_length(NEW.account_id) + octet_length(NEW.identifier))
    - (232 + octet_length(OLD.source_id) + octet_length(OLD.identifier_key) + octet_length(OLD.account_id) + octet_length(OLD.identifier)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (232 + octet_length(NEW.source_id) + octet_length(NEW.identifier_key) + octet_length(NEW.account_id) + octet_length(NEW.identifier))
    - (232 + octet_length(OLD.source_id) + octet_length(OLD.identifier_key) + octet_length(OLD.account_id) + octet_length(OLD.identifier)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_usage_delete AFTER DELETE ON unclaimed BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(232 + octet_length(OLD.source_id) + octet_length(OLD.identifier_key) + octet_length(OLD.account_id) + octet_length(OLD.identifier)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(288 + octet_length(unclaimed_reports.source_id) + octet_length(unclaimed_reports.identifier_key) + octet_length(unclaimed_reports.account_id) + octet_length(unclaimed_reports.key) + octet_length(unclaimed_reports.kind) + octet_length(unclaimed_reports.item))
FROM unclaimed_reports JOIN accounts ON accounts.id = unclaimed_reports.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER unclaimed_reports_usage_insert AFTER INSERT ON unclaimed_reports BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 288 + octet_length(NEW.source_id) + octet_length(NEW.identifier_key) + octet_length(NEW.account_id) + octet_length(NEW.key) + octet_length(NEW.kind) + octet_length(NEW.item))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_reports_usage_update AFTER UPDATE ON unclaimed_reports WHEN (288 + octet_length(NEW.source_id) + octet_length(NEW.identifier_key) + octet_length(NEW.account_id) + octet_length(NEW.key) + octet_length(NEW.kind) + octet_length(NEW.item))
    - (288 + octet_length(OLD.source_id) + octet_length(OLD.identifier_key) + octet_length(OLD.account_id) + octet_length(OLD.key) + octet_length(OLD.kind) + octet_length(OLD.item)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (288 + octet_length(NEW.source_id) + octet_length(NEW.identifier_key) + octet_length(NEW.account_id) + octet_length(NEW.key) + octet_length(NEW.kind) + octet_length(NEW.item))
    - (288 + octet_length(OLD.source_id) + octet_length(OLD.identifier_key) + octet_length(OLD.account_id) + octet_length(OLD.key) + octet_length(OLD.kind) + octet_length(OLD.item)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER unclaimed_reports_usage_delete AFTER DELETE ON unclaimed_reports BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(288 + octet_length(OLD.source_id) + octet_length(OLD.identifier_key) + octet_length(OLD.account_id) + octet_length(OLD.key) + octet_length(OLD.kind) + octet_length(OLD.item)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(424 + octet_length(users.id) + octet_length(users.account_id) + octet_length(users.name) + octet_length(users.name_key) + octet_length(users.email) + octet_length(users.email_key) + octet_length(users.country) + octet_length(users.time_zone) + ifnull(octet_length(users.phone), 0) + octet_length(users.description) + octet_length(users.message) + octet_length(users.disabled_message) + octet_length(users.tags) + octet_length(users.privileges) + ifnull(octet_length(users.group_id), 0) + ifnull(octet_length(users.device_id), 0) + ifnull(octet_length(users.password), 0))
FROM users JOIN accounts ON accounts.id = users.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER users_usage_insert AFTER INSERT ON users BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 424 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.email) + octet_length(NEW.email_key) + octet_length(NEW.country) + octet_length(NEW.time_zone) + ifnull(octet_length(NEW.phone), 0) + octet_length(NEW.description) + octet_length(NEW.message) + octet_length(NEW.disabled_message) + octet_length(NEW.tags) + octet_length(NEW.privileges) + ifnull(octet_length(NEW.group_id), 0) + ifnull(octet_length(NEW.device_id), 0) + ifnull(octet_length(NEW.password), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER users_usage_update AFTER UPDATE ON users WHEN (424 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.email) + octet_length(NEW.email_key) + octet_length(NEW.country) + octet_length(NEW.time_zone) + ifnull(octet_length(NEW.phone), 0) + octet_length(NEW.description) + octet_length(NEW.message) + octet_length(NEW.disabled_message) + octet_length(NEW.tags) + octet_length(NEW.privileges) + ifnull(octet_length(NEW.group_id), 0) + ifnull(octet_length(NEW.device_id), 0) + ifnull(octet_length(NEW.password), 0))
    - (424 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.email) + octet_length(OLD.email_key) + octet_length(OLD.country) + octet_length(OLD.time_zone) + ifnull(octet_length(OLD.phone), 0) + octet_length(OLD.description) + octet_length(OLD.message) + octet_length(OLD.disabled_message) + octet_length(OLD.tags) + octet_length(OLD.privileges) + ifnull(octet_length(OLD.group_id), 0) + ifnull(octet_length(OLD.device_id), 0) + ifnull(octet_length(OLD.password), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (424 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.name_key) + octet_length(NEW.email) + octet_length(NEW.email_key) + octet_length(NEW.country) + octet_length(NEW.time_zone) + ifnull(octet_length(NEW.phone), 0) + octet_length(NEW.description) + octet_length(NEW.message) + octet_length(NEW.disabled_message) + octet_length(NEW.tags) + octet_length(NEW.privileges) + ifnull(octet_length(NEW.group_id), 0) + ifnull(octet_length(NEW.device_id), 0) + ifnull(octet_length(NEW.password), 0))
    - (424 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.email) + octet_length(OLD.email_key) + octet_length(OLD.country) + octet_length(OLD.time_zone) + ifnull(octet_length(OLD.phone), 0) + octet_length(OLD.description) + octet_length(OLD.message) + octet_length(OLD.disabled_message) + octet_length(OLD.tags) + octet_length(OLD.privileges) + ifnull(octet_length(OLD.group_id), 0) + ifnull(octet_length(OLD.device_id), 0) + ifnull(octet_length(OLD.password), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER users_usage_delete AFTER DELETE ON users BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(424 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.name_key) + octet_length(OLD.email) + octet_length(OLD.email_key) + octet_length(OLD.country) + octet_length(OLD.time_zone) + ifnull(octet_length(OLD.phone), 0) + octet_length(OLD.description) + octet_length(OLD.message) + octet_length(OLD.disabled_message) + octet_length(OLD.tags) + octet_length(OLD.privileges) + ifnull(octet_length(OLD.group_id), 0) + ifnull(octet_length(OLD.device_id), 0) + ifnull(octet_length(OLD.password), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(192 + octet_length(webhooks.id) + octet_length(webhooks.account_id) + octet_length(webhooks.url) + octet_length(webhooks.events) + octet_length(webhooks.devices) + octet_length(webhooks.groups) + octet_length(webhooks.description) + ifnull(octet_length(webhooks.disabled_reason), 0))
FROM webhooks JOIN accounts ON accounts.id = webhooks.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER webhooks_usage_insert AFTER INSERT ON webhooks BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 192 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.url) + octet_length(NEW.events) + octet_length(NEW.devices) + octet_length(NEW.groups) + octet_length(NEW.description) + ifnull(octet_length(NEW.disabled_reason), 0))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER webhooks_usage_update AFTER UPDATE ON webhooks WHEN (192 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.url) + octet_length(NEW.events) + octet_length(NEW.devices) + octet_length(NEW.groups) + octet_length(NEW.description) + ifnull(octet_length(NEW.disabled_reason), 0))
    - (192 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.url) + octet_length(OLD.events) + octet_length(OLD.devices) + octet_length(OLD.groups) + octet_length(OLD.description) + ifnull(octet_length(OLD.disabled_reason), 0)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (192 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.url) + octet_length(NEW.events) + octet_length(NEW.devices) + octet_length(NEW.groups) + octet_length(NEW.description) + ifnull(octet_length(NEW.disabled_reason), 0))
    - (192 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.url) + octet_length(OLD.events) + octet_length(OLD.devices) + octet_length(OLD.groups) + octet_length(OLD.description) + ifnull(octet_length(OLD.disabled_reason), 0)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER webhooks_usage_delete AFTER DELETE ON webhooks BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(192 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.url) + octet_length(OLD.events) + octet_length(OLD.devices) + octet_length(OLD.groups) + octet_length(OLD.description) + ifnull(octet_length(OLD.disabled_reason), 0)))
    WHERE account_id = OLD.account_id;
END;--> statement-breakpoint
INSERT INTO account_usage (account_id, day, locations, storage_bytes)
SELECT accounts.id, accounts.day, 0, sum(112 + octet_length(zones.id) + octet_length(zones.account_id) + octet_length(zones.name) + octet_length(zones.description) + octet_length(zones.color) + octet_length(zones.shape))
FROM zones JOIN accounts ON accounts.id = zones.account_id WHERE true GROUP BY accounts.id
ON CONFLICT (account_id) DO UPDATE SET storage_bytes = storage_bytes + excluded.storage_bytes;--> statement-breakpoint
CREATE TRIGGER zones_usage_insert AFTER INSERT ON zones BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + 112 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.description) + octet_length(NEW.color) + octet_length(NEW.shape))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER zones_usage_update AFTER UPDATE ON zones WHEN (112 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.description) + octet_length(NEW.color) + octet_length(NEW.shape))
    - (112 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.description) + octet_length(OLD.color) + octet_length(OLD.shape)) <> 0 BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + (112 + octet_length(NEW.id) + octet_length(NEW.account_id) + octet_length(NEW.name) + octet_length(NEW.description) + octet_length(NEW.color) + octet_length(NEW.shape))
    - (112 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.description) + octet_length(OLD.color) + octet_length(OLD.shape)))
    WHERE account_id = NEW.account_id;
END;--> statement-breakpoint
CREATE TRIGGER zones_usage_delete AFTER DELETE ON zones BEGIN
  UPDATE account_usage SET storage_bytes = max(0, storage_bytes + -(112 + octet_length(OLD.id) + octet_length(OLD.account_id) + octet_length(OLD.name) + octet_length(OLD.description) + octet_length(OLD.color) + octet_length(OLD.shape)))
    WHERE account_id = OLD.account_id;
END;
