import { settingsShape } from '../daemon/settings.ts';
import { automationShape } from '../schema/definitions/automation-definition.ts';
import { renderJsonSchema } from '../schema/definitions/json-schema.ts';
import { webhookShape } from '../schema/definitions/webhook-definition.ts';
import { workspaceShape } from '../schema/definitions/workspace.ts';

/** `schema/json/`: a JSON Schema for each kind of file, from the shape that checks it. */
export const editorSchemas = [
  {
    path: 'schema/json/webhook.schema.json',
    render: () =>
      renderJsonSchema(
        webhookShape,
        'Webhook',
        'webhooks/<name>.yaml: an ingress URL, and how its sender is known.',
      ),
  },
  {
    path: 'schema/json/automation.schema.json',
    render: () =>
      renderJsonSchema(
        automationShape,
        'Automation',
        'automations/<name>.yaml: what runs are told to do, and which deliveries start them.',
      ),
  },
  {
    path: 'schema/json/workspace.schema.json',
    render: () =>
      renderJsonSchema(
        workspaceShape,
        'Definitions directory',
        'hookmill.yaml: what commands in this definitions directory need not be told.',
      ),
  },
  {
    path: 'schema/json/daemon.schema.json',
    render: () =>
      renderJsonSchema(
        settingsShape,
        'Daemon configuration',
        'What hookmill serve --config reads; flags and HOOKMILL_ variables override it.',
      ),
  },
];
