import { z } from 'zod';
import { settingsShape } from '../daemon/settings.ts';
import { automationFileShape } from '../schema/definitions/automation-definition.ts';
import { workspaceShape } from '../schema/definitions/parse-file.ts';
import { webhookShape } from '../schema/definitions/webhook-definition.ts';

/** The JSON Schemas in `schema/json/`, one for each kind of file, from the shapes that check the files. */
export const editorSchemas = [
  {
    path: 'schema/json/webhook.schema.json',
    render: () =>
      renderJsonSchema(
        webhookShape,
        'Webhook',
        'webhooks/<name>.yaml: an ingress URL, and how its senders authenticate.',
      ),
  },
  {
    path: 'schema/json/automation.schema.json',
    render: () =>
      renderJsonSchema(
        automationFileShape,
        'Automation',
        'automations/<name>.yaml: what runs should do, and which deliveries start them.',
      ),
  },
  {
    path: 'schema/json/workspace.schema.json',
    render: () =>
      renderJsonSchema(
        workspaceShape,
        'Definitions directory',
        'hookmill.yaml: defaults for commands in this definitions directory.',
      ),
  },
  {
    path: 'schema/json/daemon.schema.json',
    render: () =>
      renderJsonSchema(
        settingsShape,
        'Daemon configuration',
        'The file for hookmill serve --config. Flags and HOOKMILL_ variables override it.',
      ),
  },
];

/** Renders a shape as a JSON Schema for completion and help in editors. Draft 7, because every editor supports it. */
function renderJsonSchema(shape: z.ZodType, title: string, description: string): string {
  const schema = z.toJSONSchema(shape, {
    io: 'input',
    target: 'draft-7',
    override: ({ jsonSchema }) => {
      // `z.int()` adds this maximum to every integer; it helps nobody.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      // A default that the key itself does not allow stands for a missing key. Editors would insert it.
      if (Array.isArray(jsonSchema.default) && jsonSchema.minItems) delete jsonSchema.default;
    },
  });
  return `${JSON.stringify({ title, description, ...schema }, null, 2)}\n`;
}
