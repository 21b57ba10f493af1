<?php
/**
 * Plugin Name: postil
 * Description: Holds comments that postil would hold, and shows readers' comments on similar posts beside the editor.
 * License: Apache-2.0
 *
 * In wp-config.php:
 *   define('POSTIL_URL', 'https://suggest.example.org');
 *   define('POSTIL_TOKEN', 'postil_…');   // postil tokens add tokens.json wordpress --scope screen --scope suggest
 */

defined('ABSPATH') || exit;

/** Ask the service; null where it is not reached or refuses, so that the site works without it. */
function postil_ask(string $route, array $body, float $seconds): ?array {
    if (!defined('POSTIL_URL') || !defined('POSTIL_TOKEN')) {
        return null;
    }
    $answer = wp_remote_post(POSTIL_URL . $route, [
        'timeout' => $seconds,
        'redirection' => 0,
        'headers' => ['Authorization' => 'Bearer ' . POSTIL_TOKEN, 'Content-Type' => 'application/json'],
        'body' => wp_json_encode($body),
    ]);
    if (is_wp_error($answer) || wp_remote_retrieve_response_code($answer) !== 200) {
        return null;
    }
    $found = json_decode(wp_remote_retrieve_body($answer), true);
    return is_array($found) ? $found : null;
}

/** The fields of a post that the service reads. */
function postil_article(WP_Post $post): array {
    return ['id' => (string) $post->ID, 'title' => $post->post_title, 'content' => $post->post_content];
}

/** A comment that the service would hold waits for a moderator; nothing is deleted, and nothing that was held is let through. */
function postil_screen($approved, array $comment) {
    if ($approved !== 1 && $approved !== '1') {
        return $approved;
    }
    $found = postil_ask('/v1/screen', ['text' => $comment['comment_content']], 2.0);
    return ($found['decision'] ?? '') === 'hold' ? 0 : $approved;
}
add_filter('pre_comment_approved', 'postil_screen', 20, 2);

/** What a moderator decides teaches the screen of a service that keeps decisions; what no person decided is left out. */
function postil_decision(string $new, string $old, WP_Comment $comment): void {
    $decisions = ['approved' => 'APPROVED', 'spam' => 'DELETED', 'trash' => 'DELETED'];
    if ($new === $old || !isset($decisions[$new]) || !current_user_can('moderate_comments')) {
        return;
    }
    $scores = [$decisions[$new] => ['summaryScore' => ['value' => 1]]];
    if ($new === 'spam') {
        $scores['SPAM'] = ['summaryScore' => ['value' => 1]];
    }
    $about = wp_json_encode(['article' => (string) $comment->comment_post_ID, 'id' => (string) $comment->comment_ID]);
    postil_ask('/v1alpha1/comments:suggestscore', [
        'comment' => ['text' => wp_strip_all_tags($comment->comment_content)],
        'attributeScores' => $scores,
        'context' => ['entries' => [['text' => $about]]],
    ], 2.0);
}
add_action('transition_comment_status', 'postil_decision', 10, 3);

/** A box beside the editor: what readers wrote under similar posts. */
function postil_box(WP_Post $post): void {
    if ($post->post_title === '' && $post->post_content === '') {
        echo '<p>' . esc_html('Save a draft with a title or a text first.') . '</p>';
        return;
    }
    $found = postil_ask('/v1/suggest', ['article' => postil_article($post), 'k' => 5], 5.0);
    if ($found === null) {
        echo '<p>' . esc_html('The suggestions are not reached at the moment.') . '</p>';
        return;
    }
    if (!$found['suggestions']) {
        echo '<p>' . esc_html($found['reason'] ?? 'Nothing fits this post.') . '</p>';
        return;
    }
    foreach ($found['suggestions'] as $each) {
        $source = $each['provenance']['sources'][0] ?? [];
        echo '<blockquote>' . esc_html($each['text']) . '</blockquote>';
        echo '<p><small>' . esc_html($each['provenance']['label']);
        if (!empty($source['title'])) {
            echo ': ';
            echo empty($source['url'])
                ? esc_html($source['title'])
                : '<a href="' . esc_url($source['url']) . '">' . esc_html($source['title']) . '</a>';
        }
        echo '</small></p>';
    }
}
add_action('add_meta_boxes', function (): void {
    add_meta_box('postil', 'Readers of similar posts wrote', 'postil_box', 'post', 'side');
});
