import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';
import { texts } from '../texts';

const FONT =
  'Inter, "Inter Variable", ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Open Sans", sans-serif';

const accent: MantineColorsTuple = [
  '#eef1fd',
  '#dce1f8',
  '#b7c0ef',
  '#98a8f8',
  '#6f80e0',
  '#5468d8',
  '#4257c9',
  '#3649b0',
  '#2c3d98',
  '#202f7d',
];

/** Grounds and lines of Mantine's components in the dark, in the order of its own: the colours of tokens.css. */
const dark: MantineColorsTuple = [
  '#e9ebef',
  '#b0b7c3',
  '#939baa',
  '#6b7383',
  '#3b424e',
  '#2a2f38',
  '#1d2128',
  '#171a20',
  '#101216',
  '#0b0d10',
];

/** A button of a picture alone needs a name for screen readers. */
const CLOSE = { 'aria-label': texts.close };

export const theme = createTheme({
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 5 },
  colors: { accent, dark },
  fontFamily: FONT,
  fontFamilyMonospace: 'var(--mono)',
  defaultRadius: 'sm',
  radius: { sm: '6px', md: '8px' },
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.25rem' },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false, fz: 'xs' } },
    Button: { defaultProps: { size: 'xs', fz: 'sm', fw: 500 } },
    TextInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    InputWrapper: { defaultProps: { inputWrapperOrder: ['label', 'input', 'description', 'error'] } },
    InputDescription: { defaultProps: { size: 'sm', mt: 4, fz: 'xs' } },
    InputError: { defaultProps: { size: 'sm', mt: 4, fz: 'xs' } },
    ModalCloseButton: { defaultProps: { 'aria-label': texts.close } },
    // The first item gets the focus: the place without a name that Mantine puts before it is no child that a menu may have.
    Menu: { defaultProps: { shadow: 'md', offset: 6, withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { closeButtonProps: CLOSE } },
    Drawer: { defaultProps: { closeButtonProps: CLOSE, overlayProps: { backgroundOpacity: 0.25 }, padding: 'lg' } },
  },
});

/** The colours of tokens.css by Mantine's names. They are light or dark themselves. */
const COLOURS = {
  '--mantine-color-text': 'var(--ink)',
  '--mantine-color-body': 'var(--panel)',
  '--mantine-color-dimmed': 'var(--ink-faint)',
  '--mantine-color-placeholder': 'var(--ink-faint)',
  '--mantine-color-default': 'var(--panel)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-default-color': 'var(--ink)',
  '--mantine-color-anchor': 'var(--accent)',
  '--mantine-color-error': 'var(--failed)',
};

/** Gives Mantine's components the colours of tokens.css. */
export const cssVariables: CSSVariablesResolver = () => ({ variables: {}, light: COLOURS, dark: COLOURS });
